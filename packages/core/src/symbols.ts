/**
 * What our packages know each other's values by, whichever copy of a package made them. A mark that one package alone reads
 * stands beside its reader.
 */

/** Decorator of an application: who receives what modules contribute, and which of them is being mounted. */
export const contributions: unique symbol = Symbol.for('@fastify-modular/contributions')

/** Mark of a domain exception; `instanceof` would not know one of another copy. */
export const domainException: unique symbol = Symbol.for('@fastify-modular/domain-exception')

/** Mark of what our plugins decorate applications with: names such as `events` are common. */
export const ownDecorator: unique symbol = Symbol.for('@fastify-modular/decorator')

/** Decorator of an application with a gate: a function that makes a `ChallengeError`. */
export const challenge: unique symbol = Symbol.for('@fastify-modular/challenge')

/** Decorator under which a gate finds the callers of `injectAs`; absent outside tests, so no header can name a caller. */
export const testCallersDecorator: unique symbol = Symbol.for('@fastify-modular/test-callers')

/** Decorator of an application with the errors plugin: an `AnswerFailure`. */
export const answerFailure: unique symbol = Symbol.for('@fastify-modular/answer-failure')

/** Static member of event classes of ours, which need no handler: no warning says that none has ever started. */
export const mayBeUnhandled: unique symbol = Symbol.for('@fastify-modular/may-be-unhandled')

/**
 * In the configuration of a route that declares its access and stands before the gate, which reads it from the router: the
 * routes of a plugin that comes before all others. Any other route from before the gate stops the boot.
 */
export const precedesGate: unique symbol = Symbol.for('@fastify-modular/precedes-gate')

/**
 * Decorator of the scope of a plugin of ours whose routes need a known caller at least: what its option `access` says, or
 * `signed-in`. These routes also need what the module around them says, and what fails there never leads back to a form.
 */
export const accessOfPlugin: unique symbol = Symbol.for('@fastify-modular/access-of-plugin')
