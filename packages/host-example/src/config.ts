/** What the environment says about this application, read and checked once. */
import { isIP } from 'node:net'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'

/** Where data is kept. */
export type DatabaseConfig =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string }

/** Who can sign in after the first boot. */
export type AccountsConfig =
  | { readonly kind: 'demo' }
  | { readonly kind: 'own'; readonly adminPassword: string }

export interface HostConfig {
  readonly port: number
  readonly host: string
  readonly database: DatabaseConfig
  readonly accounts: AccountsConfig
  readonly sessionSecret: string
  readonly isProduction: boolean
  /** Addresses of the proxies in front, whose `X-Forwarded-*` are believed; whatever else is in them, clients make up. */
  readonly trustProxy: string | false
  readonly logLevel: string
  /** How long it goes on answering after a signal to stop, so that balancers notice; ms. */
  readonly drainTime: number
}

/** Every problem of the environment in one message; no value of a variable is in it. */
export class ConfigError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`The application cannot start:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/** Says what ends the process: a mistake of the configuration is printed without a stack; only defects of the code need one. */
export function fail(error: unknown): void {
  const isMisuse = error instanceof Error && 'code' in error && String(error.code).startsWith('FMOD_')
  process.stderr.write(`${error instanceof ConfigError || isMisuse ? error.message : inspect(error)}\n`)
  process.exitCode = 1
}

/** Signs cookies that are worth nothing without their row in the database; used on loopback outside production only. */
const demoSecret = 'a secret for demonstrations on this machine only'

const defaultFile = fileURLToPath(new URL('../data/host.sqlite', import.meta.url))

/**
 * The configuration in these variables: PORT, HOST, DATABASE_URL, NODE_ENV, SESSION_SECRET, HOST_ADMIN_PASSWORD,
 * TRUST_PROXY, LOG_LEVEL, DRAIN_SECONDS.
 * @throws {ConfigError} a variable is missing or cannot be used
 */
export function readConfig(env: NodeJS.ProcessEnv): HostConfig {
  const problems: string[] = []
  const host = env['HOST'] || '127.0.0.1'
  const isProduction = readsProduction(env['NODE_ENV'] || 'development', problems)
  const trustProxy = readProxies(env['TRUST_PROXY'] ?? '', problems)
  if (isProduction && !env['TRUST_PROXY'])
    problems.push(
      'TRUST_PROXY must name the proxy where TLS ends, in production: cookies travel over TLS only.',
    )
  // A proxy brings everybody to a loopback address: with one, it does not tell who can reach this.
  const isDemo = !isProduction && isLoopback(host) && !env['TRUST_PROXY']

  const config: HostConfig = {
    port: readNumber('PORT', '3000', 65_535),
    host,
    database: readDatabase(env['DATABASE_URL'], problems),
    accounts: isDemo
      ? { kind: 'demo' }
      : { kind: 'own', adminPassword: readSecret('HOST_ADMIN_PASSWORD', 8) },
    sessionSecret: isDemo && !env['SESSION_SECRET'] ? demoSecret : readSecret('SESSION_SECRET', 32),
    isProduction,
    trustProxy,
    logLevel: readLogLevel(env['LOG_LEVEL'] || 'info', problems),
    drainTime: readNumber('DRAIN_SECONDS', isProduction ? '5' : '0', 300) * 1000,
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return config

  function readNumber(name: string, fallback: string, most: number): number {
    const text = env[name] || fallback
    const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
    if (!(number <= most)) problems.push(`${name} must be a whole number from 0 to ${most}.`)
    return number
  }

  function readSecret(name: string, length: number): string {
    const secret = env[name] ?? ''
    if (secret.length >= length) return secret
    const reason = isDemo
      ? 'or left unset'
      : isProduction
        ? 'in production'
        : isLoopback(host)
          ? 'when TRUST_PROXY is set'
          : 'when HOST is not a loopback address'
    problems.push(`${name} must be set to at least ${length} characters ${reason}.`)
    return ''
  }
}

/** A misspelt `production` would serve the demo accounts. */
function readsProduction(name: string, problems: string[]): boolean {
  if (!['development', 'test', 'production'].includes(name))
    problems.push('NODE_ENV must be unset, development, test or production.')
  return name === 'production'
}

function readProxies(text: string, problems: string[]): string | false {
  if (text === '') return false
  if (text.split(',').every((entry) => isNetwork(entry.trim()))) return text
  problems.push('TRUST_PROXY must list addresses or networks of proxies: loopback, uniquelocal, 10.0.0.0/8.')
  return false
}

function isNetwork(entry: string): boolean {
  if (entry === 'loopback' || entry === 'linklocal' || entry === 'uniquelocal') return true
  const [address = '', bits] = entry.split('/')
  const most = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0
  return most > 0 && (bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= most))
}

function readDatabase(url: string | undefined, problems: string[]): DatabaseConfig {
  if (!url) return { kind: 'sqlite', file: defaultFile }
  if (/^postgres(?:ql)?:\/\//.test(url) && URL.canParse(url)) return { kind: 'postgres', url }
  const file = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : ''
  if (file === '')
    problems.push('DATABASE_URL must be sqlite:<file> or postgres://<user>:<password>@<host>/<database>.')
  return { kind: 'sqlite', file }
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

function readLogLevel(level: string, problems: string[]): string {
  if (!logLevels.includes(level)) problems.push(`LOG_LEVEL must be one of ${logLevels.join(', ')}.`)
  return level
}

function isLoopback(host: string): boolean {
  return /^(?:localhost|::1|127(?:\.\d{1,3}){3})$/.test(host)
}
