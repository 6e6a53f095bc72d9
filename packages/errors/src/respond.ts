/**
 * Where a failure becomes an answer: `fail` chooses a page or a problem, renders it and reports. If rendering fails, the constant of
 * last resort is sent. If sending fails, in an onSend hook or for a header, the constant is written to the socket.
 */
import type { OutgoingHttpHeaders } from 'node:http'
import {
  addVary,
  logFailure,
  ownSendOf,
  removeTrailers,
  replaceSend,
  safeKeys,
  safeRead,
  withTimeout,
} from '@fastify-modular/core/internal'
import { problemOfStatus, problemText } from '@fastify-modular/core/problem'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  type Answer,
  createLastResort,
  createStandIn,
  type ErrorPageRequest,
  renderErrorPage,
  rendererOf,
  type WriteErrorPage,
} from './error-page.ts'
import { type Pages, wantsPage } from './negotiate.ts'
import { type Failure, report } from './report.ts'

/** What answers are made with. */
export interface ResponderParts {
  /** The scope of the plugin. */
  readonly app: FastifyInstance
  readonly pages: Pages | undefined
  readonly write: WriteErrorPage
}

export type Responder = ReturnType<typeof createResponder>

/** A function answers by itself, by one `reply.send`. */
type Send = (answer: Answer | (() => void)) => void

/** What is reported when an answer could not be rendered or sent. */
const lostAnswer: Failure = { problem: problemOfStatus(500), source: 'last-resort' }

/** One answer on its way. */
interface Sending {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly send: Send
  readonly failure: Failure
}

/** The one place where failures become answers. */
export function createResponder({ app, pages, write }: ResponderParts) {
  const standIn = createStandIn(write)
  const lastResort = createLastResort(write)
  const hasInertia = () => rendererOf(app) !== undefined

  /**
   * Answers a failure in the representation that its caller gets, and reports it. Never throws.
   * @param answer sends the gate's own answer instead, which is no failure to report
   */
  function fail(request: FastifyRequest, reply: FastifyReply, failure: Failure, answer?: () => void): void {
    if (isOver(request, reply)) return leave(request, reply, failure)
    const send = takeOverReply(request, reply)
    if (answer) return send(answer)
    const sending = { request, reply, send, failure }
    try {
      const isUnmatched = failure.source === 'not-found'
      if (wantsPage(request, { pages, isUnmatched, hasInertia })) void sendPage(sending)
      else sendProblem(sending)
    } catch (error) {
      sendLastResort(sending, error)
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
    inTime(renderErrorPage({ request, reply, ...page, shared: true, renderer })).then(
      send,
      (error: unknown) => sendLastResort({ request, reply, send, failure: lostAnswer }, error),
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

  function sendProblem({ request, send, failure }: Sending): void {
    const { problem } = failure
    const body = problemText(problem, request)
    report(request, failure)
    const { status, headers } = problem
    send({ status, contentType: 'application/problem+json', body, headers })
  }

  async function sendPage(sending: Sending): Promise<void> {
    const { request, reply, send, failure } = sending
    const { status, title, detail: message, headers } = failure.problem
    const renderer = rendererOf(failure.scope ?? request.server) ?? standIn
    const page = { request, reply, props: { status, title, message }, status, renderer }
    try {
      const answer = await inTime(answerOf(page, failure))
      report(request, failure)
      send({ ...answer, headers: { ...headers, ...answer.headers } })
    } catch (error) {
      sendLastResort(sending, error)
    }
  }

  /** `error` is why the answer to a failure could not be rendered. */
  function sendLastResort({ request, send, failure }: Sending, error: unknown): void {
    report(request, { ...lostAnswer, error, original: failure.error })
    const answer = lastResort(request)
    send({ ...answer, headers: { ...failure.problem.headers, ...answer.headers } })
  }

  return { fail, show }
}

/** Milliseconds that a page may take; the wait for the errors of a form is a part of them. */
const patience = { page: 2000, form: 1000 }

function inTime<T>(page: Promise<T>): Promise<T> {
  return withTimeout(page, patience.page, () => {
    throw new Error(`The error page was not rendered within ${patience.page} ms`)
  })
}

type BarePage = Omit<ErrorPageRequest, 'shared'>

/** The page of a failure, or the way back to the form whose input was refused. */
async function answerOf(page: BarePage, failure: Failure): Promise<Answer> {
  const location = await addressOfForm(page, failure)
  if (location !== null)
    return { status: 303, contentType: 'text/plain; charset=utf-8', body: '', headers: { location } }
  const isVisit = page.request.headers['x-inertia'] !== undefined
  const isThree = isVisit && failure.source !== 'not-found' // S 7.2.1: exactly three props
  return isThree ? renderErrorPage({ ...page, shared: false }) : renderShared(page)
}

/** The page keeps user, theme and navigation; what gives them may be what failed, so that it can do without. */
async function renderShared(page: BarePage): Promise<Answer> {
  try {
    return await renderErrorPage({ ...page, shared: true })
  } catch (err) {
    const answer = await renderErrorPage({ ...page, shared: false })
    page.request.log.warn({ err }, 'the shared props failed: the error page was rendered without them')
    return answer
  }
}

/**
 * Where a form is shown again with what is wrong in it, if the application's adapter keeps that for the page; null for all
 * other failures, which have pages of their own.
 */
async function addressOfForm(
  { request, reply, renderer }: BarePage,
  { problem: { status, detail, extensions }, source }: Failure,
): Promise<string | null> {
  const errors = safeRead(extensions, 'errors')
  if (!renderer.keepErrors || source !== 'handler' || (status !== 400 && status !== 422)) return null
  if (typeof errors !== 'object' || errors === null) return null
  const byField = Object.keys(errors).length > 0 ? { ...errors } : { form: detail }
  try {
    return await withTimeout(renderer.keepErrors(request, reply, byField), patience.form, () => {
      throw new Error(`The errors were not kept within ${patience.form} ms`)
    })
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
  const send = ownSendOf(reply) // the reply may be ours already, when the onSend hooks failed on our 404 page
  let hasAnswered = false
  let hasStrayError = false
  let isAnswering = false

  replaceSend(reply, function ownedSend(payload) {
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
  })
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

/** The request headers by which a representation is chosen. */
const vary = 'Accept, X-Inertia'

function prepare(reply: FastifyReply, { status, contentType, headers }: Answer): void {
  clear(reply)
  reply.code(status)
  if (headers) reply.headers(headers)
  addVary(reply, vary)
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
  addVary(reply, vary)
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
const keptNames = /^(?:access-control-.*|vary|retry-after|www-authenticate|set-cookie)$/

function keptHeaders(reply: FastifyReply, before: Headers): Record<string, number | string | string[]> {
  const headers: Record<string, number | string | string[]> = {}
  const all = [
    ...Object.entries(before).filter(([name]) => !bodyHeaders.has(name)),
    ...Object.entries(reply.getHeaders()).filter(([name]) => keptNames.test(name)),
  ]
  for (const [name, value] of all) {
    if (value !== undefined) headers[name] = value
  }
  return headers
}

/** They describe a body that is not sent, or let a failure be cached. */
const bodyHeaders: ReadonlySet<string> = new Set([
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
    if (bodyHeaders.has(name)) reply.removeHeader(name)
  }
}

/** Takes away what Fastify's own handler copied from an error; it copies all, and set-cookie may be a foreign session. */
function removeHeadersOf(error: unknown, reply: FastifyReply): void {
  const headers = safeRead(error, 'headers')
  if (typeof headers !== 'object' || headers === null) return
  for (const name of safeKeys(headers)) reply.removeHeader(name)
}
