/** The driver's own error: drizzle's has the parameters of the statement, people's texts, in its message for the log. */
import { DrizzleError, DrizzleQueryError } from 'drizzle-orm'

export function withoutParameters(error: unknown): unknown {
  const isDrizzles = error instanceof DrizzleQueryError || error instanceof DrizzleError
  return isDrizzles && error.cause ? error.cause : error
}
