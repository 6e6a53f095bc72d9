/** Requests that Fastify refuses before it knows a route: bad URLs, over-long parameters, failed constraints. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { httpProblem, type Problem } from '../problem.ts'
import { rendererOf } from '../render/page-renderer.ts'
import { report } from '../report.ts'
import { fromHttp } from '../sources/from-http.ts'

/**
 * Answers by a constant for each status, written past Fastify: reply and request have none of the plugins' decorators
 * here, and whatever is thrown ends the process. Never throws.
 */
export function answerFrameworkError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  try {
    const { status, code } = fromHttp(error)
    const problem = { ...httpProblem(status), code } // the error's own text repeats the path
    report(request, { problem, source: 'framework', error })
    write(reply, problem, request.headers['x-inertia'] === undefined ? undefined : versionOf(request))
  } catch {
    reply.raw.destroy()
  }
}

/** `version` is that of a page for the Inertia client, undefined for everyone else. */
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
