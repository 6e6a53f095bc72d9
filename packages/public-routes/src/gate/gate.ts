/**
 * The hook in front of every request (S 5.1): who the caller is, whether the request is public, and the answer to
 * those that may not pass.
 */
import type { Caller } from '@fastify-modular/core'
import { findTestCaller, isThenable, withTimeout } from '@fastify-modular/core/internal'
import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { type AuthProvider, neverAborted } from '../provider.ts'
import { isRuleOfRoute, type RegisteredRule } from '../rules.ts'
import { type Answers, logProviderFailure } from './answers.ts'
import type { Decider } from './decide.ts'
import { missingOf } from '../access/declaration.ts'
import type { Decision, RequestAccess } from './route-record.ts'
import type { RouteTable } from './routes.ts'

/** The caller of a request, null for an anonymous one; synchronous where the provider is. Throws what that throws. */
export type Authenticate = (request: FastifyRequest) => Caller | null | Promise<Caller | null>

export interface GateParts {
  readonly routes: Pick<RouteTable, 'of'>
  readonly decider: Pick<Decider, 'decide'>
  readonly authenticate: Authenticate
  readonly answers: Answers
  /** Null where the protection from CSRF is off. */
  readonly isForgeable: ((request: FastifyRequest) => boolean) | null
  /** Takes the requests by which `explain` looks at a decision; returns whether it took this one. */
  readonly captureProbe: (request: FastifyRequest, reply: FastifyReply) => boolean
}

export type Gate = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void

/** One request at the gate. */
interface Arrival {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly done: HookHandlerDoneFunction
  readonly decision: Decision
}

/** A named function in callback style: its name shows in `printRoutes`, and an async hook costs ten times as much. */
export function createGate(parts: GateParts): Gate {
  const { routes, decider, authenticate, answers, isForgeable, captureProbe } = parts

  return function publicRoutesGate(request, reply, done) {
    if (captureProbe(request, reply)) return
    if (isForgeable !== null && isForgeable(request)) {
      answers.refuseForgery(request, reply)
      return
    }
    // Before the provider, which may change the request.
    const decision = decider.decide(request, routes.of(request))
    const arrival: Arrival = { request, reply, done, decision }
    let caller: ReturnType<Authenticate>
    try {
      caller = authenticate(request)
    } catch (err) {
      enterUnknown(arrival, err)
      return
    }
    if (caller instanceof Promise) enterLater(arrival, caller)
    else enter(arrival, caller)
  }

  function enterLater(arrival: Arrival, caller: Promise<Caller | null>): void {
    caller.then(
      (known) => enter(arrival, known),
      (failure: unknown) => enterUnknown(arrival, failure),
    )
  }

  function enter(arrival: Arrival, caller: Caller | null): void {
    const { request, reply, done, decision } = arrival
    if (reply.sent) return // answered while the provider was at work, by a time-out of the route
    request.caller = caller
    try {
      const outcome = judge(decision, caller)
      if (outcome === 'sign in') {
        answers.challenge(request, reply)
        return
      }
      if (outcome !== 'let in') {
        answers.forbid(arrival, outcome.missing)
        return
      }
    } catch (err) {
      // `classify`, the provider's `challenge` and its caller are the host's: when they fail, the request does not pass.
      done(toError(err))
      return
    }
    keepDecision(request, decision)
    done()
  }

  /** A public path never depends on the provider (S 5.4). */
  function enterUnknown(arrival: Arrival, failure: unknown): void {
    const { request, reply, done, decision } = arrival
    try {
      if (decision.rule === null) {
        if (!reply.sent) answers.reportUnavailable(arrival, failure)
        return
      }
    } catch (err) {
      done(toError(err))
      return
    }
    logProviderFailure(request, failure)
    enter(arrival, null)
  }
}

/** What the gate does with a request: `missing` is what a known caller lacks, as the end of a sentence. */
export type Outcome = 'let in' | 'sign in' | { readonly missing: string }

/** The rule is looked at last: for known callers it is rarely needed, and may be costly. */
export function judge(decision: Decision, caller: Caller | null): Outcome {
  if (caller === null) return decision.rule === null ? 'sign in' : 'let in'
  const missing = decision.needs === null ? null : missingOf(decision.needs, caller)
  return missing === null || decision.rule !== null ? 'let in' : { missing }
}

function toError(err: unknown): Error {
  return err instanceof Error ? err : new Error('the challenge failed', { cause: err })
}

/**
 * Where a request that was let in keeps the decision about it, from which `request.access` is made. Not a decorator:
 * Fastify sets each of those on every request that it makes, also on those that the gate turns away.
 */
const decisionKey = Symbol('@fastify-modular/public-routes/decision')

interface Decided {
  [decisionKey]?: Decision
}

function keepDecision(request: FastifyRequest & Decided, decision: Decision): void {
  request[decisionKey] = decision
}

const accesses = new WeakMap<RegisteredRule, RequestAccess>()

/** The getter behind `request.access`: null before the gate, and on requests that it turned away. */
export function readAccess(this: FastifyRequest & Decided): RequestAccess | null {
  const decision = this[decisionKey]
  if (decision === undefined) return null
  const { rule, letIn } = decision
  if (rule === null) return letIn
  let access = accesses.get(rule)
  if (access === undefined) {
    access = Object.freeze({ by: isRuleOfRoute(rule) ? 'declaration' : 'rule', rule })
    accesses.set(rule, access)
  }
  return access
}

/**
 * Waits for the provider, but no longer than `timeout` milliseconds. Callers of `injectAs` come first where a test
 * called `testCallers`, which production code does not.
 */
export function createAuthenticate(
  app: FastifyInstance,
  { provider, timeout }: { readonly provider: AuthProvider; readonly timeout: number },
): Authenticate {
  const wantsSignal = provider.authenticate.length > 1
  let testCaller: ReturnType<typeof findTestCaller>
  app.addHook('onReady', async function findTestCallers() {
    testCaller = findTestCaller(app)
  })

  return function authenticate(request) {
    const known = testCaller?.(request)
    if (known !== undefined) return known
    const controller = wantsSignal ? new AbortController() : null
    const answer: unknown = provider.authenticate(request, controller?.signal ?? neverAborted)
    return isThenable(answer) ? waitFor({ answer, timeout, controller }) : toCaller(answer)
  }
}

async function waitFor({
  answer,
  timeout,
  controller,
}: {
  readonly answer: PromiseLike<unknown>
  readonly timeout: number
  readonly controller: AbortController | null
}): Promise<Caller | null> {
  const authenticated = await withTimeout(answer, timeout, () => {
    const failure = new Error(`the authentication provider did not answer within ${timeout} ms`)
    controller?.abort(failure)
    throw failure
  })
  return toCaller(authenticated)
}

/** Anything but a caller or nothing comes from a broken provider, and a broken provider lets no request in. */
function toCaller(authenticated: unknown): Caller | null {
  if (authenticated === null || authenticated === undefined || authenticated === false) return null
  if (isCaller(authenticated)) return authenticated
  throw new TypeError(
    'the authentication provider answered with something that is not a Caller: it needs a string id (1 to 255 characters) and an array of permissions',
  )
}

function isCaller(value: unknown): value is Caller {
  if (typeof value !== 'object' || value === null || !('id' in value) || !('permissions' in value))
    return false
  const { id, permissions } = value
  return typeof id === 'string' && id.length > 0 && id.length <= 255 && Array.isArray(permissions)
}
