/** Errors about mistakes of the developer, which say where to read more. */
import createError, { type FastifyErrorConstructor } from '@fastify/error'

/** The class of one misuse error; `A` are the arguments that its message takes. Its status is 500: no caller did anything wrong. */
export type MisuseErrorClass<A extends unknown[]> = FastifyErrorConstructor<{ code: string }, A>

const reference = 'https://github.com/fastify-modular/fastify-modular/blob/main/docs/reference/error-codes.md'

/**
 * Creates the class of a misuse error. Its message has `%s` and `%d` where arguments go; a second line is the address of the
 * code's row in the reference.
 */
export function createMisuseError<A extends unknown[] = []>(
  code: string,
  message: string,
): MisuseErrorClass<A> {
  return createError<A>(code, `${message}\n${reference}#${code.toLowerCase()}`)
}

/** Of every plugin that freezes what it was given when the application is ready. */
export const FMOD_CORE_ADDED_LATE = createMisuseError<[added: string, wayOut: string]>(
  'FMOD_CORE_ADDED_LATE',
  '%s was added after the application became ready. Add %s, so that it can be reviewed and tested at boot.',
)
