/** Server options for the failures that happen before any plugin runs: `Fastify({ ...createErrorServerOptions() })`. */
import type { Socket } from 'node:net'
import { safeRead, safeText } from '@fastify-modular/core/internal'
import { type Problem, problemOfError, problemOfStatus } from '@fastify-modular/core/problem'
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify'
import { rendererOf } from './error-page.ts'
import { problemChannel, report } from './report.ts'

/**
 * Problems for bad URLs, over-long parameters, malformed HTTP, too large headers and slow requests. A plugin cannot set
 * them. They pass no gate and no hook, so the answers are constant: no path, no data (decision 42).
 */
export function createErrorServerOptions(): Required<
  Pick<FastifyServerOptions, 'clientErrorHandler' | 'frameworkErrors'>
> {
  return { frameworkErrors: answerFrameworkError, clientErrorHandler: answerClientError }
}

/**
 * Answers by a constant for each status, written past Fastify: reply and request have none of the plugins' decorators
 * here, and whatever is thrown ends the process. Never throws.
 */
function answerFrameworkError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  try {
    const { status, code } = problemOfError(error)
    const problem = { ...problemOfStatus(status), code } // the error's own text repeats the path
    report(request, { problem, source: 'framework', error })
    write(reply, problem, request.headers['x-inertia'] === undefined ? undefined : versionOf(request))
  } catch {
    reply.raw.destroy()
  }
}

/** `version` is that of a page for the Inertia client, undefined for all other clients. */
function write({ raw }: FastifyReply, problem: Problem, version: string | null | undefined): void {
  const isPage = version !== undefined
  const body = Buffer.from(isPage ? pageOf(problem, version) : JSON.stringify(problem))
  raw.writeHead(problem.status, {
    'content-type': isPage ? 'application/json' : 'application/problem+json',
    'content-length': body.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    vary: 'X-Inertia',
    ...(isPage && { 'x-inertia': 'true' }),
  })
  raw.end(body)
}

function pageOf({ status, title, detail }: Problem, version: string | null): string {
  const props = { status, title, message: detail }
  return JSON.stringify({ component: `Error/${status}`, props, url: '/', version })
}

function versionOf({ server }: FastifyRequest): string | null {
  try {
    return rendererOf(server)?.version() ?? null
  } catch {
    return null
  }
}

const statuses: ReadonlyMap<unknown, number> = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
  ['HPE_HEADER_OVERFLOW', 431],
])

/**
 * Answers by a constant problem and closes the connection. Writes nothing where the head of a response is out already:
 * it would become a part of that response. Never throws.
 */
function answerClientError(this: FastifyInstance, error: Error, socket: Socket): void {
  const code = safeText(error, 'code', 100)
  // The peer is gone: it would not read an answer, and nothing is wrong with this server.
  if (code === 'ECONNRESET' || socket.destroyed) return void socket.destroy()
  const problem = problemOfStatus(statuses.get(code) ?? 400)
  const pending = safeRead(socket, '_httpMessage') // where Node keeps the response that a socket is sending
  // A body that ends too early is the failure of its request, which reports it as aborted.
  if (pending == null || code !== 'HPE_INVALID_EOF_STATE') reportClientError(this, problem, error)

  if (!socket.writable || safeRead(pending, 'headersSent') === true) return void socket.destroy()
  socket.write(responseOf(problem))
  socket.destroySoon()
}

function reportClientError({ log }: FastifyInstance, problem: Problem, error: Error): void {
  if (problemChannel.hasSubscribers)
    problemChannel.publish({ type: 'problem', problem, source: 'client', error })
  const { status, code } = problem
  log.debug(
    { problem: { status, code }, source: 'client', reason: safeText(error, 'code', 100) },
    'request failed',
  )
}

/** The whole response. */
function responseOf(problem: Problem): string {
  const body = JSON.stringify(problem)
  return (
    `HTTP/1.1 ${problem.status} ${problem.title}\r\nContent-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
    `Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n${body}`
  )
}
