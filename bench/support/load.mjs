// A small load: some connections that stay open, one request in flight on each.
import { Agent, get } from 'node:http'

/** Opens the connections when they are needed. `send` repeats one request and fails when an answer has another status than expected. */
export function openLoad(port, { connections = 16 } = {}) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })

  /** Resolves with the status, when the answer has been read. */
  const ask = ({ path, headers }) =>
    new Promise((resolve, reject) => {
      const options = { agent, host: '127.0.0.1', port, path, headers }
      get(options, (answer) => answer.resume().on('end', () => resolve(answer.statusCode))).on(
        'error',
        reject,
      )
    })
  return {
    async send(request, expected, count) {
      let left = count
      const lane = async () => {
        while (left-- > 0) {
          const status = await ask(request)
          if (status !== expected) throw new Error(`${request.path}: expected ${expected}, got ${status}`)
        }
      }
      await Promise.all(Array.from({ length: connections }, lane))
    },
    close: () => agent.destroy(),
  }
}
