/**
 * The hook in front of every request (S 5.1): it decides by the policy of the route, asks the provider for the caller, and
 * judges whether the two fit. A request is public on three conditions, each necessary: its target is canonical, the policy
 * of its route opens that path, and the route that the router chose spells exactly that path (the route witness).
 */
import type { Caller } from '@fastify-modular/core'
import { canonicalPath, fullyDecoded } from '@fastify-modular/core/internal'
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { missingOf } from '../access/declaration.ts'
import type { RoutePattern } from '../matching/route-pattern.ts'
import type { Authenticate } from '../provider.ts'
import type { RegisteredRule } from '../rule.ts'
import { type Answers, logProviderFailure, type Visit } from './answers.ts'
import type { Policies } from './policy.ts'
import { type Decision, LaterDecision, type Policy, type RequestAdmission } from './decision.ts'
import type { Route, RouteTable } from './routes.ts'

export interface GateParts {
  readonly decide: (request: FastifyRequest) => Decision
  readonly authenticate: Authenticate
  readonly answers: Answers
  /** Null where the protection from CSRF is off. */
  readonly isForgeable: ((request: FastifyRequest) => boolean) | null
  /** Takes the gate's own requests, by which `explain` reads a decision; returns whether it took this one. */
  readonly takeProbe: (request: FastifyRequest, reply: FastifyReply, decision: Decision) => boolean
}

type DecidedVisit = Visit & { readonly decision: Decision }

/** A named function in callback style: its name shows in `printRoutes`, and an async hook costs ten times as much. */
export function createGate({
  decide,
  authenticate,
  answers,
  isForgeable,
  takeProbe,
}: GateParts): onRequestHookHandler {
  return function publicRoutesGate(request, reply, done) {
    const decision = decide(request) // before the provider, which may change the request
    if (takeProbe(request, reply, decision)) return
    const visit = { request, reply, done, decision }
    if (isForgeable !== null && isForgeable(request)) {
      answers.refuseForgery(visit)
      return
    }
    let caller: ReturnType<Authenticate>
    try {
      caller = authenticate(request)
    } catch (err) {
      enter(visit, null, { reason: err })
      return
    }
    if (caller instanceof Promise) enterLater(visit, caller)
    else enter(visit, caller)
  }

  /** Apart from the hook: a function with closures costs every request, also those that need none. */
  function enterLater(visit: DecidedVisit, caller: Promise<Caller | null>): void {
    caller.then(
      (known) => enter(visit, known),
      (reason: unknown) => enter(visit, null, { reason }),
    )
  }

  /** After a failure of the provider the caller is unknown: a public path never depends on it (S 5.4). */
  function enter(visit: DecidedVisit, caller: Caller | null, failure?: { readonly reason: unknown }): void {
    const { request, reply, done, decision } = visit
    if (reply.sent) return // answered while the provider was at work, by a time-out of the route
    request.caller = caller
    try {
      if (failure !== undefined) {
        if (decision.publicBecause === null) {
          answers.reportUnavailable(visit, failure.reason)
          return
        }
        logProviderFailure(request, failure.reason)
      }
      const outcome = judge(decision, caller)
      if (outcome === 'sign in') {
        answers.challenge(visit)
        return
      }
      if (outcome !== 'let in') {
        answers.forbid(visit, outcome.missing)
        return
      }
    } catch (err) {
      // `classify`, the provider's `challenge` and its caller are the host's: when they fail, the request does not pass.
      done(err instanceof Error ? err : new Error('the challenge failed', { cause: err }))
      return
    }
    keepDecision(request, decision)
    done()
  }
}

/** What the gate does with a request: `missing` is what a known caller lacks, as the end of a sentence. */
export type Outcome = 'let in' | 'sign in' | { readonly missing: string }

export function judge(decision: Decision, caller: Caller | null): Outcome {
  if (caller === null) return decision.publicBecause === null ? 'sign in' : 'let in'
  const missing = decision.needs === null ? null : missingOf(decision.needs, caller)
  return missing === null || decision.publicBecause !== null ? 'let in' : { missing }
}

/** Keeps what a decision depends on as it is now, before other hooks run: nothing that runs later can change the decision. */
export function createDecide(
  routes: Pick<RouteTable, 'of'>,
  policies: Pick<Policies, 'of'>,
): (request: FastifyRequest) => Decision {
  return function decide(request) {
    const route = routes.of(request)
    const policy = policies.of(route, request.method)
    if (policy.kind === 'closed') return policy.otherwise
    const target = request.raw.url ?? ''
    if (policy.kind === 'open' && policy.target !== null && isSpelledAs(target, policy.target))
      return policy.open
    const values = readParameters(request, route)
    if (values === null) return policy.otherwise
    return new LaterDecision(policy.otherwise, function findReason() {
      const path = canonicalPath(target)
      if (path === null) return null
      const reason = reasonOf(policy, path)
      return reason !== null && (route === null || spellsPath(route, { values, path })) ? reason : null
    })
  }
}

/** Why a canonical path is public, if the route that the router chose spells it. */
export function reasonOf(policy: Policy, path: string): RequestAdmission | null {
  if (policy.kind === 'open') return policy.open.publicBecause
  const rule = policy.kind === 'closed' ? undefined : policy.find(path)
  return rule === undefined ? null : admissionBy(rule)
}

/** One object for each rule. */
const admissions = new WeakMap<RegisteredRule, RequestAdmission>()

function admissionBy(rule: RegisteredRule): RequestAdmission {
  const known = admissions.get(rule)
  if (known !== undefined) return known
  const admission = Object.freeze({ by: 'rule', rule } as const)
  admissions.set(rule, admission)
  return admission
}

/**
 * The values of the route's parameters as the router decoded them; null where an earlier hook left no object. The gate
 * keeps the values and not the object, which validation and later hooks change in place.
 */
function readParameters(request: FastifyRequest, route: Route | null): readonly unknown[] | null {
  if (route === null) return []
  const params: unknown = request.params
  if (typeof params !== 'object' || params === null) return null
  return route.parameters.map((name) => (params as Readonly<Record<string, unknown>>)[name])
}

/**
 * The route witness: rebuilds the path piece by piece from the patterns of the chosen route and compares it with the
 * canonical path. One trailing slash more is tolerated where the router ignores it.
 */
export function spellsPath(
  { patterns, toleratesSlash }: Pick<Route, 'patterns' | 'toleratesSlash'>,
  { values, path }: { readonly values: readonly unknown[]; readonly path: string },
): boolean {
  const spelled = fullyDecoded(path)
  for (const pattern of patterns) {
    const end = spelledLength(pattern, { values, path: spelled })
    if (end === spelled.length) return true
    if (toleratesSlash && end === spelled.length - 1 && spelled.endsWith('/')) return true
  }
  return false
}

/** How much of the path the pattern spells, in characters; -1 where they differ. */
function spelledLength(
  pattern: RoutePattern,
  { values, path }: { readonly values: readonly unknown[]; readonly path: string },
): number {
  let at = 0
  let parameter = 0
  for (const part of pattern) {
    const text = typeof part === 'string' ? part : values[parameter++]
    if (typeof text !== 'string' || !path.startsWith(text, at)) return -1
    at += text.length
  }
  return at
}

/** Whether the target is this path, with or without a query. */
function isSpelledAs(target: string, path: string): boolean {
  return target === path || (target.startsWith(path) && target[path.length] === '?')
}

/**
 * Where a request that was let in keeps its decision, for `request.admission`. It is not a decorator, because Fastify sets
 * those on every request, also on those that the gate turns away.
 */
const decisionKey = Symbol('@fastify-modular/public-routes/decision')

interface Decided {
  [decisionKey]?: Decision
}

function keepDecision(request: FastifyRequest & Decided, decision: Decision): void {
  request[decisionKey] = decision
}

/** The getter behind `request.admission`: null before the gate, and on requests that it turned away. */
export function readAdmission(this: FastifyRequest & Decided): RequestAdmission | null {
  const decision = this[decisionKey]
  return decision === undefined ? null : (decision.publicBecause ?? decision.letsIn)
}
