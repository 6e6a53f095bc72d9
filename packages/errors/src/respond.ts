/**
 * Answers a failed request: chooses the representation, renders it, reports. If a renderer fails, the constant of last resort
 * is sent. If sending fails, in an onSend hook or for a header, the constant is written to the socket.
 */
import type { OutgoingHttpHeaders } from 'node:http'
import {
  logFailure,
  type PageRenderer,
  removeTrailers,
  safeKeys,
  safeRead,
  withTimeout,
} from '@fastify-modular/core/internal'
import { problemOfStatus, problemText } from '@fastify-modular/core/problem'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  type Answer,
  type ErrorPageRequest,
  type LastResort,
  renderErrorPage,
  rendererOf,
  renderTimeout,
} from './error-page.ts'
import { negotiate, type UnmatchedPages, varyByNegotiation } from './negotiate.ts'
import type { ErrorsSettings } from './options.ts'
import { type Failure, report } from './report.ts'

/** What answers are made with. */
export interface ResponderParts {
  readonly settings: Pick<ErrorsSettings, 'pagesForBrowsers'>
  /** Read at each unmatched request. */
  readonly unmatchedPages: () => UnmatchedPages
  readonly standIn: PageRenderer
  readonly lastResort: LastResort
}

export type Responder = ReturnType<typeof createResponder>

/** A function answers by itself, by one `reply.send`. */
type Send = (answer: Answer | (() => void)) => void

/** What is reported when an answer could not be rendered or sent. */
const lostAnswer: Failure = { problem: problemOfStatus(500), source: 'last-resort' }

/** One answer on its way. */
interface Sending {
  readonly request: FastifyRequest
  readonly send: Send
  readonly failure: Failure
}

/** The one place where failures become answers. */
export function createResponder({ settings, unmatchedPages, standIn, lastResort }: ResponderParts) {
  /**
   * Answers a failure in the representation that its caller gets, and reports it. Never throws.
   * @param answer sends the gate's own answer instead, which is no failure to report
   */
  function fail(request: FastifyRequest, reply: FastifyReply, failure: Failure, answer?: () => void): void {
    if (isOver(request, reply)) return leave(request, reply, failure)
    const send = takeOverReply(request, reply)
    if (answer) return send(answer)
    try {
      if (wantsPage(request, failure)) void sendPage({ request, reply, send, failure })
      else sendProblem({ request, send, failure })
    } catch (error) {
      sendLastResort({ request, send, failure, error })
    }
  }

  /** Answers with an error page although nothing failed, and reports nothing (S 4.3). Never throws. */
  function show(
    request: FastifyRequest,
    reply: FastifyReply,
    page: Pick<ErrorPageRequest, 'props' | 'status'>,
  ): void {
    const send = takeOverReply(request, reply)
    const renderer = rendererOf(request.server) ?? standIn
    void renderErrorPage({ request, reply, ...page, shared: true, renderer }).then(send, (error: unknown) =>
      sendLastResort({ request, send, failure: lostAnswer, error }),
    )
  }

  /** When Fastify fails to send our answer, the constant one is written past it. */
  function takeOverReply(request: FastifyRequest, reply: FastifyReply): Send {
    const before = reply.getHeaders()
    return takeOver(reply, (error) => {
      if (reply.raw.writableEnded) return
      report(request, { ...lostAnswer, error })
      writeRaw(reply, lastResort(request), before)
    })
  }

  function wantsPage(request: FastifyRequest, { source }: Failure): boolean {
    const { method, headers } = request
    const representation = negotiate({
      method,
      headers,
      unmatchedPages: source === 'not-found' ? unmatchedPages() : undefined,
      pagesForBrowsers: () => settings.pagesForBrowsers(request),
    })
    return representation === 'page'
  }

  function sendProblem({ request, send, failure }: Sending): void {
    const { problem } = failure
    const body = problemText(problem, request)
    report(request, failure)
    const { status, headers } = problem
    send({ status, contentType: 'application/problem+json', body, headers })
  }

  async function sendPage({
    request,
    reply,
    send,
    failure,
  }: Sending & { reply: FastifyReply }): Promise<void> {
    const { status, title, detail: message, headers } = failure.problem
    const props = { status, title, message }
    const renderer = rendererOf(failure.scope ?? request.server) ?? standIn
    const page = { request, reply, props, status, renderer }
    const isVisit = request.headers['x-inertia'] !== undefined
    try {
      const keeping = addressOfForm(page, failure)
      const location = await withTimeout(keeping, renderTimeout, () => {
        request.log.error('the errors of a form were not kept in time')
        return null
      })
      if (location !== null) {
        report(request, failure)
        return send({
          status: 303,
          contentType: 'text/plain; charset=utf-8',
          body: '',
          headers: { location },
        })
      }
      const isThree = isVisit && failure.source !== 'not-found' // S 7.2.1: exactly three props
      const answer = isThree ? await renderErrorPage({ ...page, shared: false }) : await renderShared(page)
      report(request, failure)
      send({ ...answer, headers: { ...headers, ...answer.headers } })
    } catch (error) {
      sendLastResort({ request, send, failure, error })
    }
  }

  /** The page keeps user, theme and navigation; what gives them may be what failed, so that it can do without. */
  async function renderShared(page: Omit<ErrorPageRequest, 'shared'>): Promise<Answer> {
    try {
      return await renderErrorPage({ ...page, shared: true })
    } catch (err) {
      const answer = await renderErrorPage({ ...page, shared: false })
      page.request.log.warn({ err }, 'the shared props failed: the error page was rendered without them')
      return answer
    }
  }

  /** `error` is why the answer to `failure` could not be rendered. */
  function sendLastResort({ request, send, failure, error }: Sending & { error: unknown }): void {
    report(request, { ...lostAnswer, error, original: failure.error })
    const answer = lastResort(request)
    send({ ...answer, headers: { ...failure.problem.headers, ...answer.headers } })
  }

  return { fail, show }
}

/**
 * Where a form is shown again with what is wrong in it, if the application's adapter keeps that for the page; null for all
 * other failures, which have pages of their own.
 */
async function addressOfForm(
  { request, reply, renderer }: Pick<ErrorPageRequest, 'request' | 'reply' | 'renderer'>,
  { problem: { status, detail, extensions }, source }: Failure,
): Promise<string | null> {
  const errors = safeRead(extensions, 'errors')
  if (!renderer.keepErrors || source !== 'handler' || (status !== 400 && status !== 422)) return null
  if (typeof errors !== 'object' || errors === null) return null
  const byField = Object.keys(errors).length > 0 ? { ...errors } : { form: detail }
  try {
    return await renderer.keepErrors(request, reply, byField)
  } catch (err) {
    logFailure(request.log, 'error', { err }, 'the errors of a form could not be kept')
    return null
  }
}

/** Whether it is too late for an answer: the caller went away, or the handler began to write by itself and then failed. */
function isOver({ raw: request }: FastifyRequest, { raw: reply }: FastifyReply): boolean {
  return reply.headersSent || reply.destroyed || (request.destroyed && !request.complete)
}

function leave(request: FastifyRequest, { raw }: FastifyReply, failure: Failure): void {
  report(request, isAbort(failure.error) ? { ...failure, source: 'aborted' } : failure)
  if (!raw.writableEnded) raw.destroy()
}

/** Whether the error is the end of the connection, as handlers and streams see it; any other one is a defect, even if its caller is gone. */
function isAbort(error: unknown): boolean {
  const code = safeRead(error, 'code')
  return (
    code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE' || safeRead(error, 'name') === 'AbortError'
  )
}

/**
 * Takes the reply and returns the one function that answers it. Fastify answers what goes wrong while we answer — an
 * onSend hook that throws, a header that cannot be written — by its own handler, which sends the raw message. It does
 * so through `reply.send`, which therefore leads to `onLost` from now on.
 * @param onLost is called with the failure to send the answer; it must write to `reply.raw`, because Fastify has given up on this reply
 */
function takeOver(reply: FastifyReply, onLost: (error: unknown) => void): Send {
  // The class's method: the reply may be ours already, when the onSend hooks failed on our 404 page.
  const { send } = Object.getPrototypeOf(reply) as FastifyReply
  let hasAnswered = false
  let hasStrayError = false
  let isAnswering = false

  reply.send = function ownedSend(payload?: unknown) {
    if (isAnswering) {
      isAnswering = false
      return send.call(reply, payload)
    }
    // An async handler that does not return its reply sends undefined when it ends.
    if (!hasAnswered) hasStrayError ||= payload !== undefined
    else if (isFailure(reply)) {
      removeHeadersOf(payload, reply)
      onLost(payload)
    }
    return reply
  }
  return function sendOnce(answer) {
    if (reply.raw.headersSent || reply.raw.destroyed) return
    hasAnswered = true
    try {
      if (typeof answer === 'function') {
        isAnswering = true
        clear(reply)
        answer()
        return
      }
      // The handler went on and failed while a page was being rendered: Fastify would take our body for its error.
      if (hasStrayError) return writeRaw(reply, answer)
      prepare(reply, answer)
      send.call(reply, answer.body)
    } catch (error) {
      onLost(error)
    }
  }
}

/** Takes away what belongs to the answer that was meant to be sent. */
function clear(reply: FastifyReply): void {
  removeBodyHeaders(reply)
  removeTrailers(reply)
  forgetPhrase(reply)
}

function prepare(reply: FastifyReply, { status, contentType, headers }: Answer): void {
  clear(reply)
  reply.code(status)
  if (headers) reply.headers(headers)
  varyByNegotiation(reply)
  reply.header('content-type', contentType).header('cache-control', 'no-store')
  reply.header('x-content-type-options', 'nosniff')
  // With a serialiser of ours a string is sent as it is: no schema filters it, no charset is added to its type.
  reply.serializer(asItIs)
}

function asItIs(body: string): string {
  return body
}

/**
 * Whether Fastify reports a failure, in distinction from a handler that sends or throws once more. Fastify takes away the
 * content type before it hands an error over; after a stream has begun, the type is on the raw response.
 */
function isFailure(reply: FastifyReply): boolean {
  return !reply.hasHeader('content-type') || reply.raw.hasHeader('content-type')
}

/**
 * Answers past Fastify and all hooks. CORS headers and the like, set before, stay.
 * @param before the headers from before the answer that was lost; what was set since may be its own
 */
function writeRaw(
  reply: FastifyReply,
  { status, contentType, body, headers }: Answer,
  before: Headers = reply.getHeaders(),
): void {
  const { raw } = reply
  if (raw.writableEnded) return
  if (raw.headersSent) {
    raw.destroy() // half an answer is out: the end of the connection shows that it is incomplete
    return
  }
  const own = {
    ...headers,
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  }
  forgetPhrase(reply)
  removeBodyHeaders(reply)
  varyByNegotiation(reply)
  // One of the host's headers may be what cannot be written.
  const attempts = [keptHeaders(reply, before), keptHeaders(reply, {}), {}]
  attempts.some((hosts) => writeHead(reply, status, { ...hosts, ...own }))
  reply.hijack()
  raw.end(body)
}

function writeHead({ raw }: FastifyReply, status: number, headers: OutgoingHttpHeaders): boolean {
  try {
    raw.writeHead(status, headers)
    return true
  } catch {
    for (const name of raw.getHeaderNames()) raw.removeHeader(name)
    return false
  }
}

/** Removes a reason phrase that belongs to another status, set by the host, or by Node when it could not write the head. HTTP/2 has none. */
function forgetPhrase({ raw, request }: FastifyReply): void {
  if (request.raw.httpVersionMajor !== 2 && raw.statusMessage) raw.statusMessage = ''
}

type Headers = Readonly<Record<string, number | string | string[] | undefined>>

/** What callers need to read and repeat the request, also where it was set late; other headers may belong to the error that was lost. */
const kept = /^(?:access-control-.*|vary|retry-after|www-authenticate|set-cookie)$/

function keptHeaders(reply: FastifyReply, before: Headers): Record<string, number | string | string[]> {
  const headers: Record<string, number | string | string[]> = {}
  const all = [
    ...Object.entries(before).filter(([name]) => !ofTheBody.has(name)),
    ...Object.entries(reply.getHeaders()).filter(([name]) => kept.test(name)),
  ]
  for (const [name, value] of all) {
    if (value !== undefined) headers[name] = value
  }
  return headers
}

/** They describe a body that is not sent, or let a failure be cached. */
const ofTheBody: ReadonlySet<string> = new Set([
  'accept-ranges',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-range',
  'content-type',
  'etag',
  'expires',
  'last-modified',
  'link',
  'location',
  'pragma',
  'trailer',
  'transfer-encoding',
])

/** Takes away what described the body that was meant to be sent. Cookies, CORS and security headers stay. */
function removeBodyHeaders(reply: FastifyReply): void {
  for (const name in reply.getHeaders()) {
    if (ofTheBody.has(name)) reply.removeHeader(name)
  }
}

/** Takes away what Fastify's own handler copied from an error; it copies all, and set-cookie may be a foreign session. */
function removeHeadersOf(error: unknown, reply: FastifyReply): void {
  const headers = safeRead(error, 'headers')
  if (typeof headers !== 'object' || headers === null) return
  for (const name of safeKeys(headers)) reply.removeHeader(name)
}
