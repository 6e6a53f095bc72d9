/** The options of the plugin, and what is refused at boot. */
import { unknownMembers, unknownOptions } from '@fastify-modular/core'
import { FMOD_PUBLIC_ROUTES_INVALID_OPTIONS, FMOD_PUBLIC_ROUTES_PROVIDER_MISSING } from './misuse-errors.ts'
import type { Classify } from './gate/answers.ts'
import type { CrossOriginOptions } from './gate/csrf.ts'
import type { CaptureGuard } from './gate/decide.ts'
import type { AuthProvider } from './provider.ts'

export interface PublicRoutesOptions {
  /** Who knows the callers; `combineProviders([...])` for several. */
  readonly provider: AuthProvider
  /** The framework's own public paths (S 5.3.1). @default true */
  readonly defaults?: boolean
  /** Where `SM_AUTH_PUBLIC_PATHS` is read; false does not read it. @default process.env */
  readonly env?: Readonly<Record<string, string | undefined>> | false
  /** Refuses unsafe requests from other sites; turn it on where sessions are cookies. @default false */
  readonly crossOrigin?: boolean | CrossOriginOptions
  /** How long the provider may take, in milliseconds. @default 5000 */
  readonly timeout?: number
  /**
   * Names of onRequest hooks that may run before the gate without a warning, such as those of what the provider needs:
   * `['fastifyCookieHandler', 'handleSession']`. The warning at boot names them. @default []
   */
  readonly expectedHooks?: readonly string[]
  /** @default 'segments' */
  readonly captureGuard?: CaptureGuard
  /** Tells browsers, Inertia pages and API clients apart. @default classifyRequest */
  readonly classify?: Classify
}

const captureGuards: readonly unknown[] = ['segments', 'all', 'off', undefined]

const known: Readonly<Record<keyof PublicRoutesOptions, true>> = {
  provider: true,
  defaults: true,
  env: true,
  crossOrigin: true,
  timeout: true,
  expectedHooks: true,
  captureGuard: true,
  classify: true,
}

const knownCrossOrigin: Readonly<Record<keyof CrossOriginOptions, true>> = {
  trustedOrigins: true,
  exempt: true,
}

/**
 * Checks what TypeScript cannot: options come from JavaScript, too.
 * @throws {FMOD_PUBLIC_ROUTES_PROVIDER_MISSING} no provider, or one without `authenticate`
 * @throws {FMOD_PUBLIC_ROUTES_INVALID_OPTIONS}
 */
export function checkOptions(options: Partial<PublicRoutesOptions>): void {
  const { provider, timeout, captureGuard, classify, env, crossOrigin, defaults, expectedHooks } = options
  if (typeof provider?.authenticate !== 'function') throw new FMOD_PUBLIC_ROUTES_PROVIDER_MISSING()
  if (provider.loginUrl !== undefined && !isLoginUrl(provider.loginUrl)) {
    throw refusal('provider.loginUrl is neither a path such as "/login" nor an absolute http or https URL')
  }
  if (timeout !== undefined && !(Number.isInteger(timeout) && timeout > 0 && timeout <= 0x7fffffff)) {
    throw refusal('timeout is not a positive number of milliseconds')
  }
  if (env !== undefined && env !== false && !isObject(env)) {
    throw refusal('env is neither false nor an object such as process.env')
  }
  if (crossOrigin !== undefined && typeof crossOrigin !== 'boolean' && !isObject(crossOrigin)) {
    throw refusal('crossOrigin is neither a boolean nor an object with trustedOrigins and exempt')
  }
  if (expectedHooks !== undefined && !isListOfNames(expectedHooks)) {
    throw refusal('expectedHooks is not an array of names of hooks')
  }
  if (defaults !== undefined && typeof defaults !== 'boolean') throw refusal('defaults is not a boolean')
  refuseUnknown(unknownOptions(options, known), known, '')
  if (isObject(crossOrigin)) {
    refuseUnknown(unknownMembers(crossOrigin, knownCrossOrigin), knownCrossOrigin, 'crossOrigin.')
  }
  if (!captureGuards.includes(captureGuard))
    throw refusal('captureGuard is none of "segments", "all" and "off"')
  if (classify !== undefined && typeof classify !== 'function') throw refusal('classify is not a function')
}

/** A misspelt `crossOrigin` would leave the protection off silently. */
function refuseUnknown(
  [misspelt]: readonly string[],
  names: Readonly<Record<string, true>>,
  path: string,
): void {
  if (misspelt !== undefined) {
    throw refusal(`there is no option ${path}${misspelt}, only ${Object.keys(names).join(', ')}`)
  }
}

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string' && name !== '')
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function isLoginUrl(url: unknown): boolean {
  if (typeof url !== 'string' || !/^[\x21-\x7e]+$/.test(url)) return false
  // `//host` and `/\host` leave the site in a browser.
  return url.startsWith('/') ? !/^\/[/\\]/.test(url) : /^https?:\/\//.test(url) && URL.canParse(url)
}

function refusal(reason: string): Error {
  return new FMOD_PUBLIC_ROUTES_INVALID_OPTIONS(reason)
}
