/** The options of the transports, checked before anything opens: a misspelt one would be ignored silently. */
import { argumentProblems, option, type OptionsSchema } from '../internal/options.ts'
import { FMOD_CORE_INVALID_OPTION } from '../misuse-errors.ts'

/** Options that both durable transports have. */
export const durableOptions = {
  maxAttempts: option.positive(),
  retryDelay: option.milliseconds(0),
  attemptTimeout: option.milliseconds(),
  concurrency: option.positive(),
  lease: option.milliseconds(),
  pollInterval: option.milliseconds(),
  closeTimeout: option.milliseconds(0),
}

/** @throws {FMOD_CORE_INVALID_OPTION} with all problems */
export function checkTransportOptions<O extends object>(
  transport: string,
  schema: OptionsSchema<O>,
  options: O,
): void {
  const problems = argumentProblems(schema, options, 'options')
  if (problems.length > 0) throw new FMOD_CORE_INVALID_OPTION(`${transport}()`, problems.join('; '))
}
