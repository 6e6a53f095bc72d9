/** One connection that sends exactly the bytes it is given. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { parseResponse, type RawResponse } from './parse-response.ts'

/** Where the server listens. `host` is 127.0.0.1 by default. */
export interface Address {
  readonly port: number
  readonly host?: string
}

/** An open connection. */
export interface RawConnection {
  /** Sends bytes, whole requests or half ones. */
  send(bytes: string | Buffer): void
  /**
   * Waits for the next response.
   * @throws {Error} when the peer closes first, or after `timeout` ms
   */
  response(options?: { readonly isHead?: boolean; readonly timeout?: number }): Promise<RawResponse>
  /** Resolves with the bytes nobody read when the peer has closed. @throws {Error} after `timeout` ms */
  closed(timeout?: number): Promise<Buffer>
  /** Ends it without a goodbye. */
  destroy(): void
}

/** Milliseconds: longer than any pause of a busy machine. */
const patience = 60_000

/** Opens a connection. */
export async function openConnection({ port, host = '127.0.0.1' }: Address): Promise<RawConnection> {
  const socket = connect({ port, host, noDelay: true })
  await once(socket, 'connect')
  const received = { bytes: Buffer.alloc(0), isEnded: false }
  const waiting = new Set<() => void>()
  const wake = (): void => {
    for (const resume of waiting) resume()
    waiting.clear()
  }
  socket.on('data', (chunk: Buffer) => {
    received.bytes = Buffer.concat([received.bytes, chunk])
    wake()
  })
  socket.on('error', () => {}) // a reset is an end like any other; `close` follows
  socket.on('close', () => {
    received.isEnded = true
    wake()
  })
  const change = (deadline: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => {
          socket.destroy()
          reject(new Error('The server did not answer in time'))
        },
        Math.max(0, deadline - Date.now()),
      )
      waiting.add(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  return {
    send: (data) => void socket.write(typeof data === 'string' ? Buffer.from(data, 'latin1') : data),
    response: async ({ isHead = false, timeout = patience } = {}) => {
      const deadline = Date.now() + timeout
      for (;;) {
        const { bytes, isEnded } = received
        const parsed = parseResponse(bytes, { isHead, isEnded })
        if (parsed) {
          received.bytes = bytes.subarray(parsed.length)
          return parsed.response
        }
        if (isEnded)
          throw new Error(`The connection closed before a whole response came: ${bytes.toString('latin1')}`)
        await change(deadline)
      }
    },
    closed: async (timeout = patience) => {
      const deadline = Date.now() + timeout
      while (!received.isEnded) await change(deadline)
      return received.bytes
    },
    destroy: () => void socket.destroy(),
  }
}
