/** @fastify-modular/errors/testing: whether routes document the problems that they answer. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Problems } from './problems.ts'
import { problemChannel, type ProblemEvent } from './report.ts'

/** Answered by the gate, which documents them itself, and for defects, of which documents say nothing. */
const undocumented: ReadonlySet<number> = new Set([401, 403, 500])

/**
 * Watches a test. What it returns ends that, and throws where a route that documents its responses has answered a problem
 * that is not among them: `const check = watchProblems(app); …; check()`.
 */
export function watchProblems(app: { readonly problems: Problems }): () => void {
  const missing = new Set<string>()

  function watch(message: unknown): void {
    const { problem, method, route, request } = message as ProblemEvent // of our own channel
    const schema = request?.routeOptions.schema
    const isOurs = request?.server === app || (request && app.isPrototypeOf(request.server))
    if (!isOurs || route === undefined || !schema?.response || undocumented.has(problem.status)) return
    if (!isDocumented(schema.response as Responses, problem))
      missing.add(
        `${method} ${route} answered ${problem.status} ${problem.code}, which its schema does not name`,
      )
  }

  subscribe(problemChannel.name, watch)
  return () => {
    unsubscribe(problemChannel.name, watch)
    if (missing.size > 0) throw new Error([...missing].join('\n'))
  }
}

interface Responses {
  readonly [status: string]: {
    readonly content?: Readonly<Record<string, { readonly schema?: ProblemSchema }>>
  }
}

interface ProblemSchema {
  readonly oneOf?: readonly ProblemSchema[]
  readonly properties?: { readonly code?: { readonly enum?: readonly string[] } }
}

function isDocumented(responses: Responses, { status, code }: ProblemEvent['problem']): boolean {
  const family = String(status)[0]
  const response =
    responses[status] ?? responses[`${family}xx`] ?? responses[`${family}XX`] ?? responses['default']
  if (response === undefined) return false
  const schema = response.content?.['application/problem+json']?.schema ?? {}
  return [schema.oneOf ?? schema]
    .flat()
    .some(({ properties }) => properties?.code?.enum?.includes(code) ?? true)
}
