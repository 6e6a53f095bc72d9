// A small HTTP/1.1 client: some connections that stay open, one request in flight on each.
import { once } from 'node:events'
import { connect } from 'node:net'

const headEnd = Buffer.from('\r\n\r\n')

/** Opens the connections. `send` repeats one request and fails when an answer has another status than expected. */
export async function openLoad(port, { connections = 16 } = {}) {
  const sockets = Array.from({ length: connections }, () => connect(port, '127.0.0.1').setNoDelay())
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  return {
    async send(request, status, count) {
      const left = { toSend: count }
      await Promise.all(sockets.map((socket) => exchange(socket, request, status, left)))
    },
    close: () => sockets.forEach((socket) => socket.destroy()),
  }
}

/** The bytes of a request without a body. */
export function requestBytes({ method = 'GET', path, headers = {} }) {
  const lines = Object.entries({ host: 'bench', ...headers }).map(([name, value]) => `${name}: ${value}`)
  return Buffer.from([`${method} ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n'))
}

/** One request after the other on this connection, until all connections together have sent their number. */
function exchange(socket, request, status, left) {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0)
    const next = () => {
      if (left.toSend === 0) return finish()
      left.toSend--
      socket.write(request)
    }
    const finish = (error) => {
      socket.off('data', read).off('close', closed).off('error', finish)
      if (error) reject(error)
      else resolve()
    }
    const closed = () => finish(new Error('the server closed a connection'))
    const read = (chunk) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      const end = answerEnd(received)
      if (end === undefined || received.length < end) return
      const text = received.latin1Slice(0, end)
      received = received.subarray(end)
      if (Number(text.slice(9, 12)) === status) next()
      else finish(new Error(`expected ${status}, got:\n${text}`))
    }
    socket.on('data', read).on('close', closed).on('error', finish)
    next()
  })
}

/** Where the answer ends, as far as its head tells; undefined while the head is incomplete. */
function answerEnd(bytes) {
  const head = bytes.indexOf(headEnd)
  if (head === -1) return undefined
  const length = /\r\ncontent-length: (\d+)/i.exec(bytes.latin1Slice(0, head))
  return head + headEnd.length + (length ? Number(length[1]) : 0)
}
