/** The hook in front of every request (S 5.1): who calls, is the request public, and what happens if neither. */
import type { Caller } from '@fastify-modular/core'
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { RegisteredRule } from '../rule-index.ts'
import type { Authenticate } from './authenticate.ts'
import type { Challenge } from './challenge.ts'
import type { RefusesCrossOrigin } from './cross-origin.ts'
import { crossOrigin, sendProblem, unavailable } from './problem.ts'

export interface GateParts {
  /** The rule that makes the request public, null where it is protected. */
  readonly decide: (request: FastifyRequest) => RegisteredRule | null
  readonly authenticate: Authenticate
  readonly challenge: Challenge
  /** Null where the protection is off. */
  readonly refusesCrossOrigin: RefusesCrossOrigin | null
  /** Takes requests that only ask how the gate would decide; see `probe.ts`. */
  readonly intercepts: (request: FastifyRequest, reply: FastifyReply) => boolean
}

export type Gate = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void

/** A named function in callback style: its name shows in `printRoutes`, and an async hook costs ten times as much. */
export function createGate(parts: GateParts): Gate {
  const { decide, authenticate, challenge, refusesCrossOrigin, intercepts } = parts

  return function publicRoutesGate(request, reply, done) {
    if (intercepts(request, reply)) return
    if (refusesCrossOrigin !== null && refusesCrossOrigin(request)) {
      sendProblem(request, reply, crossOrigin)
      return
    }
    let caller: ReturnType<Authenticate>
    try {
      caller = authenticate(request)
    } catch (err) {
      enterUnknown(request, reply, done, decide(request), err)
      return
    }
    if (!(caller instanceof Promise)) {
      // Whether anybody may enter is no question for whoever is known.
      enter(request, reply, done, caller === null ? decide(request) : null, caller)
      return
    }
    const rule = decide(request)
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

  /** S 5.4: a public path never depends on the provider. A protected one answers 503: a 401 would cost good credentials. */
  function enterUnknown(
    request: FastifyRequest,
    reply: FastifyReply,
    done: HookHandlerDoneFunction,
    rule: RegisteredRule | null,
    failure: unknown,
  ): void {
    request.log.error({ err: failure }, 'the authentication provider failed')
    if (rule !== null) enter(request, reply, done, rule, null)
    else if (!reply.sent) sendProblem(request, reply.header('retry-after', '5'), unavailable)
  }
}
