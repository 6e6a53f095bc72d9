/** How the gate decides a request, and why: a probe goes through the real router up to the gate. */
import type { IncomingHttpHeaders } from 'node:http'
import { canonicalPath } from '@fastify-modular/core/internal'
import type { FastifyRequest } from 'fastify'
import { reasonOf, readParameters, spellsPath } from '../gate/gate.ts'
import type { Policies } from '../gate/policy.ts'
import type { RequestAdmission } from '../gate/decision.ts'
import { type RouteTable, unlisted } from '../gate/routes.ts'
import { matcherOf } from '../rule.ts'
import { FMOD_PUBLIC_ROUTES_NOT_READY } from '../misuse-errors.ts'
import { nameOfRule, type RegisteredRule } from '../rules.ts'
import type { Probes } from './probes.ts'

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
  /** The rule that opens the request, or else the one that matches it literally; null where none does. */
  readonly rule: string | null
  /** Where the rule, or the declaration that opens the request, comes from. */
  readonly source: string | null
  /** The URL of the route that the router chose; null where none matches. */
  readonly route: string | null
  /** The status of a rejected request; null otherwise. */
  readonly status: number | null
}

interface ExplainParts {
  readonly probes: Probes
  readonly rules: readonly RegisteredRule[]
  readonly routes: RouteTable
  readonly policies: Policies
}

export type Explain = (
  method: string,
  target: string,
  options?: { readonly headers?: IncomingHttpHeaders },
) => Promise<Explanation>

export function createExplain({ probes, rules, routes, policies }: ExplainParts): Explain {
  return async function explain(method, target, options = {}) {
    const about = {
      method,
      target,
      path: canonicalPath(target),
      rule: null,
      source: null,
      route: null,
      status: null,
    }
    // Before the rules freeze, Fastify has not bound the gate to the routes, and would run their handlers.
    if (!Object.isFrozen(rules)) throw new FMOD_PUBLIC_ROUTES_NOT_READY(`request ${method} ${target}`)
    const outcome = await probes.send(method, target, options.headers)
    if (outcome.reached)
      return { ...about, ...explainRequest(outcome.request, outcome.decision.publicBecause) }
    const reason = `the request was answered with status ${outcome.status} before it reached the gate`
    return { ...about, decision: 'rejected', reason, status: outcome.status }
  }

  function explainRequest(request: FastifyRequest, opening: RequestAdmission | null) {
    const route = routes.of(request)
    let fault = ''
    const path = canonicalPath(request.raw.url ?? '', (reason) => (fault = reason))
    const literal = path === null ? undefined : findLiteral(request.method, path)
    const rule = opening?.by === 'rule' ? opening.rule : opening === null ? literal : undefined
    const source = opening?.by === 'declaration' ? opening.source : (rule?.source ?? null)
    const found = {
      path,
      rule: rule === undefined ? null : String(rule.route),
      source,
      route: route?.url ?? null,
    }
    if (opening?.by === 'rule')
      return {
        ...found,
        decision: 'public' as const,
        reason: `the rule ${nameOfRule(opening.rule)} opens it`,
      }
    if (opening !== null)
      return { ...found, decision: 'public' as const, reason: `the ${source} declares it public` }
    const reason =
      path === null ? `the target is not canonical: ${fault}` : whyProtected(request, path, literal)
    return { ...found, decision: 'protected' as const, reason }
  }

  /** Independent of the policies: a diagnosis should not share the fault that it looks for. */
  function findLiteral(method: string, path: string): RegisteredRule | undefined {
    return rules.find(({ route }) => route.matches(method, path))
  }

  /** Of a request whose target is canonical; `literal` is the rule that matches it literally. */
  function whyProtected(request: FastifyRequest, path: string, literal: RegisteredRule | undefined): string {
    const { method } = request
    const route = routes.of(request)
    if (route === unlisted) return 'the gate does not know its route'
    const values = readParameters(request, route)
    const isSpelled = route === null || (values !== null && spellsPath(route, { values, path }))
    if (!isSpelled && reasonOf(policies.of(route, method), path) !== null) {
      return `the route "${route.url}" that the router chose does not spell this path`
    }
    const declared = route?.declared(method)
    if (declared !== undefined && declared.requirement.kind !== 'public') {
      return `the ${declared.source} declares ${declared.requirement.text}`
    }
    if (literal !== undefined) {
      return literal.route.kind === 'suffix'
        ? `the rule "${String(literal.route)}" matches a parameter's value and not literal text of the route "${route?.url}"`
        : `the rule "${String(literal.route)}" opens another route than "${route?.url ?? 'none'}"`
    }
    const other = rules.find((rule) => matcherOf(rule.route).matchesPath(path))
    return other === undefined
      ? 'no rule matches the path'
      : `the rule "${String(other.route)}" matches the path, but not the method ${method}`
  }
}
