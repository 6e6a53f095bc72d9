/** How the gate decides a request, and why: a probe goes through the real router up to the gate. */
import { canonicalPath } from '@fastify-modular/core/internal'
import type { FastifyInstance } from 'fastify'
import type { Policies } from '../gate/policy.ts'
import { type Route, type RouteTable, unlisted } from '../gate/routes.ts'
import { matcherOf, nameOfRule, type RegisteredRule } from '../rule.ts'
import { type Probe, sendProbe } from './probes.ts'

/** A decision with its reasons. */
export interface Explanation {
  readonly method: string
  readonly target: string
  /** `rejected`: answered before the gate, by the router (a malformed target) or by an earlier hook. */
  readonly decision: 'public' | 'protected' | 'rejected'
  /** One sentence. */
  readonly reason: string
  /** The canonical path that rules are matched with; null where the target has none. */
  readonly path: string | null
  /** The rule that opens the request, or else the first that matches its path by its text; null where none does. */
  readonly rule: string | null
  /** Where the rule, or the declaration that opens the request, comes from. */
  readonly source: string | null
  /** The URL of the route that the router chose; null where none matches. */
  readonly route: string | null
  /** The status of a rejected request; null otherwise. */
  readonly status: number | null
}

/** What the gate knows of the application. */
export interface Parts {
  readonly app: FastifyInstance
  readonly rules: readonly RegisteredRule[]
  readonly routes: RouteTable
  readonly policies: Policies
}

export async function explain(probe: Probe, { app, rules, routes }: Parts): Promise<Explanation> {
  const { method, target } = probe
  const outcome = await sendProbe(app, probe)
  if (!outcome.reached) {
    const reason = `the request was answered with status ${outcome.status} before it reached the gate`
    const nothing = { path: canonicalPath(target), rule: null, source: null, route: null }
    return { method, target, ...nothing, decision: 'rejected', reason, status: outcome.status }
  }
  const { request, decision } = outcome
  const route = routes.of(request)
  let fault = ''
  const path = canonicalPath(request.raw.url ?? '', (reason) => (fault = reason))
  const because = decision.publicBecause
  // Independent of the policies: a diagnosis should not share the fault that it looks for.
  const matching = rules.find((rule) => path !== null && matcherOf(rule.route).matchesPath(path))
  const rule = because === null ? matching : because.by === 'rule' ? because.rule : undefined
  const found = {
    method,
    target,
    path,
    rule: rule === undefined ? null : String(rule.route),
    source: because?.by === 'declaration' ? because.source : (rule?.source ?? null),
    route: route?.url ?? null,
    status: null,
  }
  if (because === null) {
    const reason =
      path === null ? `the target is not canonical: ${fault}` : whyProtected(route, request.method, rule)
    return { ...found, decision: 'protected', reason }
  }
  const reason =
    rule === undefined ? `the ${found.source} declares it public` : `the rule ${nameOfRule(rule)} opens it`
  return { ...found, decision: 'public', reason }
}

/** Of a request whose target is canonical; `rule` matches its path. */
function whyProtected(route: Route | null, method: string, rule: RegisteredRule | undefined): string {
  if (route === unlisted) return 'the gate does not know its route'
  const declared = route?.declared(method)
  if (declared !== undefined && declared.requirement.kind !== 'public')
    return `the ${declared.source} declares ${declared.requirement.text}`
  if (rule === undefined) return 'no rule matches the path'
  const place = route === null ? '' : ` of the route "${route.url}"`
  return `the rule ${nameOfRule(rule)} matches the path, but does not open ${method}${place}`
}
