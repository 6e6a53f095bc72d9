/** The hook in front of every request (S 5.1): who calls, is the request public, and what happens if neither. */
import type { Caller } from '@fastify-modular/core'
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { RegisteredRule } from '../rule-index.ts'
import type { Authenticate } from './authenticate.ts'
import type { Challenge } from './answers/challenge.ts'
import type { RefusesCrossOrigin } from './cross-origin.ts'
import { crossOrigin, sendProblem } from './answers/problem.ts'
import { type AnswerUnavailable, logProviderFailure } from './answers/unavailable.ts'

export interface GateParts {
  /** The rule that makes the request public, null where it is protected. */
  readonly decide: (request: FastifyRequest) => RegisteredRule | null
  readonly authenticate: Authenticate
  readonly challenge: Challenge
  readonly answerUnavailable: AnswerUnavailable
  /** Null where the protection is off. */
  readonly refusesCrossOrigin: RefusesCrossOrigin | null
  /** Takes requests that only ask how the gate would decide; see `probe.ts`. */
  readonly intercepts: (request: FastifyRequest, reply: FastifyReply) => boolean
}

/**
 * How the gate let a request in. `rule`: it is public, whoever calls; `caller`: nothing opens it, and its caller is
 * known. Each rule has one such object, which is frozen.
 */
export type RequestAccess =
  | { readonly by: 'rule'; readonly rule: RegisteredRule }
  | { readonly by: 'caller'; readonly rule?: undefined }

const byCaller: RequestAccess = Object.freeze({ by: 'caller' })

export type Gate = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void

/** A named function in callback style: its name shows in `printRoutes`, and an async hook costs ten times as much. */
export function createGate(parts: GateParts): Gate {
  const { decide, authenticate, challenge, answerUnavailable, refusesCrossOrigin, intercepts } = parts
  const accesses = new Map<RegisteredRule, RequestAccess>()

  return function publicRoutesGate(request, reply, done) {
    if (intercepts(request, reply)) return
    if (refusesCrossOrigin !== null && refusesCrossOrigin(request)) {
      sendProblem(request, reply, crossOrigin)
      return
    }
    const rule = decide(request)
    let caller: ReturnType<Authenticate>
    try {
      caller = authenticate(request)
    } catch (err) {
      enterUnknown(request, reply, done, rule, err)
      return
    }
    if (!(caller instanceof Promise)) {
      enter(request, reply, done, rule, caller)
      return
    }
    caller.then(
      (known) => enter(request, reply, done, rule, known),
      (failure: unknown) => enterUnknown(request, reply, done, rule, failure),
    )
  }

  function enter(
    request: FastifyRequest,
    reply: FastifyReply,
    done: HookHandlerDoneFunction,
    rule: RegisteredRule | null,
    caller: Caller | null,
  ): void {
    if (reply.sent) return // answered while the provider was thinking, by a time-out of the route
    request.caller = caller
    if (caller !== null || rule !== null) {
      request.access = rule === null ? byCaller : accessBy(rule)
      done()
      return
    }
    try {
      challenge(request, reply)
    } catch (err) {
      // `classify` and the provider's `challenge` are the host's: when they fail, nobody passes.
      done(err instanceof Error ? err : new Error('the challenge failed', { cause: err }))
    }
  }

  function accessBy(rule: RegisteredRule): RequestAccess {
    let access = accesses.get(rule)
    if (access === undefined) {
      access = Object.freeze({ by: 'rule', rule })
      accesses.set(rule, access)
    }
    return access
  }

  /** S 5.4: a public path never depends on the provider. */
  function enterUnknown(
    request: FastifyRequest,
    reply: FastifyReply,
    done: HookHandlerDoneFunction,
    rule: RegisteredRule | null,
    failure: unknown,
  ): void {
    if (rule === null) {
      if (!reply.sent) answerUnavailable(request, reply, done, failure)
      return
    }
    logProviderFailure(request, failure)
    enter(request, reply, done, rule, null)
  }
}
