/** Connections that do not speak HTTP, or not in time: there is no request yet, only a socket. */
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { httpProblem, type Problem } from '../problem.ts'
import { problemChannel } from '../report.ts'
import { safeRead, safeText } from '../values/safe-read.ts'

const statuses: ReadonlyMap<unknown, number> = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
  ['HPE_HEADER_OVERFLOW', 431],
])

/**
 * Answers by a constant problem and closes the connection. Writes nothing where the head of a response is out already:
 * it would become a part of that response. Never throws.
 */
export function answerClientError(this: FastifyInstance, error: Error, socket: Socket): void {
  const code = safeText(error, 'code', 100)
  // The peer is gone: nobody reads an answer, and nothing is wrong with this server.
  if (code === 'ECONNRESET' || socket.destroyed) return void socket.destroy()
  const problem = httpProblem(statuses.get(code) ?? 400)
  const pending = safeRead(socket, '_httpMessage') // Node keeps the response of a socket here, and looks at it as well
  // A body that ends too early is the failure of its request, which reports it as aborted.
  if (pending == null || code !== 'HPE_INVALID_EOF_STATE') reportClientError(this, problem, error)

  if (!socket.writable || safeRead(pending, 'headersSent') === true) return void socket.destroy()
  socket.write(responseOf(problem.status))
  socket.destroySoon()
}

function reportClientError({ log }: FastifyInstance, problem: Problem, error: Error): void {
  if (problemChannel.hasSubscribers) problemChannel.publish({ problem, source: 'client', error })
  const { status, code } = problem
  log.debug(
    { problem: { status, code }, source: 'client', reason: safeText(error, 'code', 100) },
    'request failed',
  )
}

const responses = new Map<number, Buffer>()

/** The bytes of the whole response; made once, for attackers ask often. */
function responseOf(status: number): Buffer {
  let bytes = responses.get(status)
  if (!bytes) {
    const problem = httpProblem(status)
    const body = JSON.stringify(problem)
    bytes = Buffer.from(
      `HTTP/1.1 ${status} ${problem.title}\r\nContent-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
        `Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n${body}`,
    )
    responses.set(status, bytes)
  }
  return bytes
}
