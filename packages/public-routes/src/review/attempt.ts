/** Tries what the gate does with a caller's request for a route: through the real router and the hooks before the gate. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from '@fastify-modular/core'
import type { Decider } from '../gate/decide.ts'
import { judge } from '../gate/gate.ts'
import type { RouteTable } from '../gate/routes.ts'
import type { RouteRecord } from '../gate/route-record.ts'
import { sampleTexts } from '../matching/sample-text.ts'
import { FMOD_PUBLIC_ROUTES_NOT_READY } from '../misuse-errors.ts'
import type { RuleSet } from '../rules.ts'
import type { Probes } from './explain.ts'
import { samplePaths } from './surface.ts'

/** What the gate does: it lets the request in, needs a known caller (401), or misses a permission (403). */
export type AttemptOutcome = 'let in' | 'sign in' | 'forbidden'

/**
 * Tries a route with each of these callers; no handler runs. Returns their outcomes, in their order, for each of up to
 * three paths that lead to the route; none where no such path was found.
 */
export type Attempt = (
  route: { readonly method: string; readonly url: string; readonly constraints: string },
  callers: readonly (Caller | null)[],
) => Promise<readonly (readonly AttemptOutcome[])[]>

const maxPaths = 3

export function createAttempt({
  probes,
  rules,
  routes,
  decider,
}: {
  readonly probes: Probes
  readonly rules: RuleSet
  readonly routes: RouteTable
  readonly decider: Decider
}): Attempt {
  return async function attempt({ method, url, constraints }, callers) {
    if (!rules.isFrozen) throw new FMOD_PUBLIC_ROUTES_NOT_READY(`request ${method} ${url}`)
    const record = routes.records.find(
      (each) => each.url === url && each.methods.includes(method) && each.constraintsText === constraints,
    )
    const outcomes: (readonly AttemptOutcome[])[] = []
    if (record === undefined) return outcomes
    for (const target of targetsOf(record)) {
      const outcome = await probes.send(method, target, headersFor(record))
      if (!outcome.reached || routes.of(outcome.request) !== record) continue
      const decision = decider.decide(outcome.request, record)
      outcomes.push(callers.map((caller) => toOutcome(judge(decision, caller))))
      if (outcomes.length === maxPaths) break
    }
    return outcomes
  }
}

function toOutcome(outcome: ReturnType<typeof judge>): AttemptOutcome {
  return typeof outcome === 'string' ? outcome : 'forbidden'
}

function targetsOf({ patterns }: RouteRecord): readonly string[] {
  return patterns
    .flatMap((pattern) => samplePaths(pattern, ''))
    .map((path) => path.replace(/[^\x21-\x7e]+/g, encodeURIComponent))
}

/** Headers by which the router chooses a route with the constraints that Fastify knows. */
function headersFor({ constraints: { version, host } }: RouteRecord): IncomingHttpHeaders {
  const name = host instanceof RegExp ? sampleTexts(host.source)[0] : host
  return {
    ...(typeof version === 'string' && { 'accept-version': version }),
    ...(typeof name === 'string' && { host: name }),
  }
}
