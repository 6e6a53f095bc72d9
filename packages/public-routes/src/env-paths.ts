/** Public path prefixes from the environment (S 5.7). */
import { FMOD_PUBLIC_ROUTES_INVALID_ENV } from './misuse-errors.ts'
import { PublicRoute } from './public-route.ts'

/** A JSON array of path strings; each is a prefix rule for every method. */
export const environmentVariable = 'SM_AUTH_PUBLIC_PATHS'

/** The beginning of a JSON array of strings, as far as it goes. */
const beginning = /^\s*(?:\[\s*(?:STRING\s*(?:,\s*STRING\s*)*(?:,\s*)?)?)?/.source
const arrayOfStrings = new RegExp(beginning.replaceAll('STRING', String.raw`"(?:[^"\\]|\\.)*"`))

/**
 * The rules that the variable seeds; none where it is unset.
 * @throws {FMOD_PUBLIC_ROUTES_INVALID_ENV} anything but an array of usable prefixes, with the position of the fault
 */
export function readEnvPaths(env: Readonly<Record<string, string | undefined>>): readonly PublicRoute[] {
  const text = env[environmentVariable]
  if (text === undefined) return []
  return parseArray(text).map((path, position) => toRule(path, position))
}

function parseArray(text: string): readonly unknown[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // The parser's own message may quote the text, which can be anything.
    const position = arrayOfStrings.exec(text)?.[0].length ?? 0
    throw new FMOD_PUBLIC_ROUTES_INVALID_ENV(
      environmentVariable,
      `it is not valid JSON at position ${position}`,
    )
  }
  if (!Array.isArray(value)) {
    throw new FMOD_PUBLIC_ROUTES_INVALID_ENV(environmentVariable, 'at position 0 there is no array')
  }
  return value
}

function toRule(path: unknown, position: number): PublicRoute {
  if (typeof path !== 'string') {
    throw new FMOD_PUBLIC_ROUTES_INVALID_ENV(environmentVariable, `element ${position} is not a string`)
  }
  try {
    return new PublicRoute(path)
  } catch (err) {
    const reason = err instanceof Error ? err.message : String(err)
    throw new FMOD_PUBLIC_ROUTES_INVALID_ENV(
      environmentVariable,
      `element ${position} is no usable prefix. ${reason}`,
    )
  }
}
