/**
 * The rules that exist before anything adds one: the framework's defaults, the environment, the provider's legacy
 * paths.
 */
import { errorCodes } from './misuse-errors.ts'
import type { PublicRoutesOptions } from './options.ts'
import { PublicRouteRegistry } from './registry.ts'
import { frameworkDefault, PublicRoute, type RegisteredRule } from './rule.ts'

/** A JSON array of path strings; each is a prefix rule for every method. */
export const environmentVariable = 'SM_AUTH_PUBLIC_PATHS'

/** The source of the rules that it adds. */
export const environmentSource = `environment ${environmentVariable}`

/** Adds them in the order in which explanations should name them (S 5.3.1, S 5.7, S 5.3.3). */
export function addInitialRules(
  rules: RegisteredRule[],
  { defaults, env, provider }: Required<Pick<PublicRoutesOptions, 'defaults' | 'env' | 'provider'>>,
): void {
  if (defaults) {
    // They end at a segment where the path names one thing: `/healthcare` is not public because `/health` is.
    new PublicRouteRegistry(rules, frameworkDefault)
      .addExact('/')
      .addSubtree('/health')
      .addSubtree('/api/docs')
      .addSubtree('/api/redoc')
      .addSubtree('/openapi.json')
      .addPrefix('/static/')
      .addPrefix('/i18n/')
  }
  const fromEnvironment = new PublicRouteRegistry(rules, environmentSource)
  for (const route of env === false ? [] : readEnvPaths(env)) fromEnvironment.add(route)
  const legacy = new PublicRouteRegistry(rules, 'provider')
  for (const path of provider.publicPaths ?? []) legacy.addPrefix(path)
}

/**
 * The rules that the environment variable adds; none where it is unset or empty, as compose files write an unset one.
 * @throws {FMOD_PUBLIC_ROUTES_INVALID_ENV} anything but an array of usable prefixes, with the position of the fault
 */
export function readEnvPaths(env: Readonly<Record<string, string | undefined>>): readonly PublicRoute[] {
  const text = env[environmentVariable] ?? ''
  if (text === '') return []
  return parseArray(text).map((path, position) => toRule(path, position))
}

const jsonString = String.raw`"(?:[^"\\]|\\.)*"`

/** As much of a text as begins a JSON array of strings. */
const beginningOfArray = new RegExp(
  String.raw`^\s*(?:\[\s*(?:${jsonString}\s*(?:,\s*${jsonString}\s*)*(?:,\s*)?)?)?`,
)

function parseArray(text: string): readonly unknown[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // The parser's own message may quote the text, which may hold secrets.
    const position = beginningOfArray.exec(text)?.[0].length ?? 0
    throw invalid(`it is not valid JSON at position ${position}`)
  }
  if (!Array.isArray(value)) throw invalid('the value at position 0 is not an array')
  return value
}

function toRule(path: unknown, position: number): PublicRoute {
  if (typeof path !== 'string') throw invalid(`element ${position} is not a string`)
  try {
    return new PublicRoute(path)
  } catch (err) {
    const reason = err instanceof Error ? err.message : String(err)
    throw invalid(`element ${position} is not a usable prefix. ${reason}`)
  }
}

function invalid(reason: string): Error {
  return new errorCodes.FMOD_PUBLIC_ROUTES_INVALID_ENV(environmentVariable, reason)
}
