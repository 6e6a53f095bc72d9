/** Tries what the gate does with a caller's request for a route: through the real router and the hooks before the gate. */
import type { Caller } from '@fastify-modular/core'
import type { Decider } from '../gate/decide.ts'
import { missingOf } from '../gate/gate.ts'
import type { RouteTable } from '../gate/routes.ts'
import type { RouteRecord } from '../gate/route-record.ts'
import { FMOD_PUBLIC_ROUTES_NOT_READY } from '../misuse-errors.ts'
import type { RuleSet } from '../rules.ts'
import type { Probes } from './explain.ts'
import { samplePaths } from './surface.ts'

/** What the gate does: it lets the request in, asks for a known caller (401), or misses a permission (403). */
export type AttemptOutcome = 'let in' | 'sign in' | 'forbidden'

/** The outcomes for the callers given, in their order; null where no path leads to the route. */
export type Attempt = (
  route: { readonly method: string; readonly url: string },
  callers: readonly (Caller | null)[],
) => Promise<readonly AttemptOutcome[] | null>

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
  return async function attempt({ method, url }, callers) {
    if (!rules.isFrozen) throw new FMOD_PUBLIC_ROUTES_NOT_READY(`request ${method} ${url}`)
    const records = routes.records.filter((each) => each.url === url && each.methods.includes(method))
    for (const record of records) {
      for (const path of pathsOf(record)) {
        const outcome = await probes.send(method, path)
        if (!outcome.reached || routes.of(outcome.request) !== record) continue
        const decision = decider.decide(outcome.request, record)
        return callers.map((caller) => {
          if (caller === null) return decision.rule === null ? 'sign in' : 'let in'
          return missingOf(decision, caller) === null ? 'let in' : 'forbidden'
        })
      }
    }
    return null
  }
}

function pathsOf({ patterns }: RouteRecord): readonly string[] {
  return patterns.flatMap((pattern) => samplePaths(pattern, ''))
}
