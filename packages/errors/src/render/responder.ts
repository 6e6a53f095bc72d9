/** Answers a failed request: chooses the representation, renders it, falls back when that fails, reports. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorsSettings } from '../options.ts'
import { type ErrorPageProps, httpProblem, type Problem } from '../problem.ts'
import { type Failure, report } from '../report.ts'
import { describeError } from '../values/describe-error.ts'
import { safeRead } from '../values/safe-read.ts'
import type { LastResort } from './last-resort.ts'
import { negotiate, type UnmatchedPages } from './negotiate.ts'
import type { PageRenderer } from './page-renderer.ts'
import { renderPage } from './render-page.ts'
import { renderProblem } from './render-problem.ts'
import { type Answer, takeOver, writeRaw } from './take-over.ts'

/** What answers are made with. */
export interface ResponderParts {
  readonly settings: Pick<ErrorsSettings, 'pagesForBrowsers' | 'renderTimeout' | 'exposeDebug'>
  /** Read at each unmatched request: it is decided when the application is ready. */
  readonly unmatchedPages: () => UnmatchedPages
  readonly standIn: PageRenderer
  readonly lastResort: LastResort
}

/** Answers failed requests. */
export interface Responder {
  /** Answers a failure in the representation that its caller gets, and reports it. Never throws. */
  fail(request: FastifyRequest, reply: FastifyReply, failure: Failure): void
  /** Answers with an error page that tells of no failure, and reports none (S 4.3). Never throws. */
  show(request: FastifyRequest, reply: FastifyReply, props: ErrorPageProps, status: number): void
}

type Send = (answer: Answer) => void

/** The failure of an answer. */
const lost: Failure = { problem: httpProblem(500), source: 'last-resort' }

/** The one place where failures become answers. */
export function createResponder({
  settings,
  unmatchedPages,
  standIn,
  lastResort,
}: ResponderParts): Responder {
  const pages = { standIn, timeout: settings.renderTimeout }

  function fail(request: FastifyRequest, reply: FastifyReply, failure: Failure): void {
    if (isOver(request, reply)) return leave(request, reply, failure)
    const send = own(request, reply)
    try {
      if (wantsPage(request, failure)) void sendPage(request, reply, failure, send)
      else sendProblem(request, failure, send)
    } catch (renderError) {
      sendLastResort(request, failure, renderError, send)
    }
  }

  function show(request: FastifyRequest, reply: FastifyReply, props: ErrorPageProps, status: number): void {
    const send = own(request, reply)
    void renderPage(request, reply, props, { status, shared: true }, pages).then(send, (error: unknown) =>
      sendLastResort(request, lost, error, send),
    )
  }

  /** When Fastify fails to send our answer, the constant one is written past it. */
  function own(request: FastifyRequest, reply: FastifyReply): Send {
    return takeOver(reply, (error) => {
      if (reply.raw.writableEnded) return
      report(request, { ...lost, error })
      writeRaw(reply, lastResort(request))
    })
  }

  function wantsPage(request: FastifyRequest, { source }: Failure): boolean {
    const { method, headers } = request
    const asked = {
      method,
      headers,
      unmatchedPages: source === 'not-found' ? unmatchedPages() : undefined,
      pagesForBrowsers: () => settings.pagesForBrowsers(request),
    }
    return negotiate(asked) === 'page'
  }

  function sendProblem(request: FastifyRequest, failure: Failure, send: Send): void {
    const problem = settings.exposeDebug ? withDebug(failure) : failure.problem
    const body = renderProblem(problem, request)
    report(request, failure)
    const { status, headers } = problem
    send({ status, contentType: 'application/problem+json', body, headers })
  }

  async function sendPage(
    request: FastifyRequest,
    reply: FastifyReply,
    failure: Failure,
    send: Send,
  ): Promise<void> {
    const { status, title, detail: message, headers } = failure.problem
    const shared = failure.source === 'not-found'
    try {
      const answer = await renderPage(request, reply, { status, title, message }, { status, shared }, pages)
      report(request, failure)
      send({ ...answer, headers: { ...headers, ...answer.headers } })
    } catch (renderError) {
      sendLastResort(request, failure, renderError, send)
    }
  }

  function sendLastResort(request: FastifyRequest, failure: Failure, error: unknown, send: Send): void {
    report(request, { ...lost, error, original: failure.error })
    const answer = lastResort(request)
    send({ ...answer, headers: { ...failure.problem.headers, ...answer.headers } })
  }

  return { fail, show }
}

/** Nobody can be answered: the caller went away, or the handler began to write by itself and then failed. */
function isOver({ raw: request }: FastifyRequest, { raw: reply }: FastifyReply): boolean {
  return reply.headersSent || reply.destroyed || (request.destroyed && !request.complete)
}

function leave(request: FastifyRequest, { raw }: FastifyReply, failure: Failure): void {
  report(request, isAbort(failure.error) ? { ...failure, source: 'aborted' } : failure)
  if (!raw.writableEnded) raw.destroy()
}

/** The end of the connection as handlers and streams see it; any other error is a defect, with or without a reader. */
function isAbort(error: unknown): boolean {
  const code = safeRead(error, 'code')
  return (
    code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE' || safeRead(error, 'name') === 'AbortError'
  )
}

/** For developers only; the option is refused in production. */
function withDebug({ problem, error }: Failure): Problem {
  if (problem.status < 500 || error === undefined) return problem
  return { ...problem, extensions: { ...problem.extensions, debug: describeError(error) } }
}
