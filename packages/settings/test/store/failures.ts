/** How the tests of stores look at failures. */
import { isDomainException } from '@fastify-modular/core'

/** What a call rejects with, or null when it succeeds. */
export function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => null,
    (error: unknown) => error,
  )
}

/** Whether it is what callers get while the database cannot answer. */
export function is503(error: unknown): boolean {
  return isDomainException(error) && error.statusCode === 503
}
