/** Says how the gate decides a request, and why, by sending it through the real router up to the gate. */
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { canonicalPath } from '@fastify-modular/core/internal'
import { isWitnessed, type Decider } from '../gate/decide.ts'
import { unlisted } from '../gate/route-book.ts'
import type { RouteRecord } from '../gate/route-record.ts'
import { FMOD_PUBLIC_ROUTES_NOT_READY } from '../misuse-errors.ts'
import type { RuleBook } from '../registry.ts'
import type { RegisteredRule } from '../rule-index.ts'
import type { Probes } from './probe.ts'

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
  /** Where the rule comes from. */
  readonly source: string | null
  /** The URL of the route that the router chose; null where none matches. */
  readonly route: string | null
  /** The status of a rejected request; null otherwise. */
  readonly status: number | null
}

export interface ExplainParts {
  readonly probes: Probes
  readonly book: RuleBook
  readonly decider: Decider
  readonly recordOf: (request: FastifyRequest) => RouteRecord | null
}

export type Explain = (
  method: string,
  target: string,
  options?: { readonly headers?: IncomingHttpHeaders },
) => Promise<Explanation>

export function createExplain({ probes, book, decider, recordOf }: ExplainParts): Explain {
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
    // Before that, Fastify has not bound the gate to the routes, and would run their handlers.
    if (!book.isFrozen) throw new FMOD_PUBLIC_ROUTES_NOT_READY(`${method} ${target}`)
    const outcome = await probes.send(method, target, options.headers)
    if (!outcome.reached) {
      const reason = `the request was answered with status ${outcome.status} before it reached the gate`
      return { ...about, decision: 'rejected', reason, status: outcome.status }
    }
    return { ...about, ...explainRequest(outcome.request) }
  }

  function explainRequest(request: FastifyRequest) {
    const record = recordOf(request)
    const opening = decider.decide(request, record)
    let fault = ''
    const path = canonicalPath(request.raw.url ?? '', (reason) => (fault = reason))
    const literal = path === null ? undefined : literalMatch(request.method, path)
    const rule = opening ?? literal
    const found = {
      path,
      rule: rule === undefined ? null : String(rule.route),
      source: rule?.source ?? null,
      route: record?.url ?? null,
    }
    if (opening !== null) {
      const reason = `the rule "${String(opening.route)}" (${opening.source}) opens it`
      return { ...found, decision: 'public' as const, reason }
    }
    return { ...found, decision: 'protected' as const, reason: whyProtected(request, record, path, fault) }
  }

  /** Slower than the index and independent of it: a diagnosis should not share the fault it looks for. */
  function literalMatch(method: string, path: string): RegisteredRule | undefined {
    return book.rules.find(({ route }) => route.allows(method) && route.matchesPath(path))
  }

  function whyProtected(
    request: FastifyRequest,
    record: RouteRecord | null,
    path: string | null,
    fault: string,
  ): string {
    if (path === null) return `the target is not canonical: ${fault}`
    if (record === unlisted) return 'its route was registered before the gate, and Fastify does not show it'
    const literal = literalMatch(request.method, path)
    const admitted = decider.findRule(request.method, path, record)
    if (admitted !== null && !isWitnessed(request, record, path)) {
      return `the route "${record?.url}" that the router chose does not spell this path`
    }
    if (literal !== undefined) {
      return literal.route.kind === 'suffix'
        ? `the rule "${String(literal.route)}" is met by a parameter's value and not by literal text of the route "${record?.url}"`
        : `the rule "${String(literal.route)}" opens another route than "${record?.url ?? 'none'}"`
    }
    const other = book.rules.find(({ route }) => route.matchesPath(path))
    return other === undefined
      ? 'no rule matches the path'
      : `the rule "${String(other.route)}" matches the path, but not the method ${request.method}`
  }
}
