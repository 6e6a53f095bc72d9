/** Signing in: throttled, with one answer for unknown accounts and wrong passwords. */
import { isIPv6 } from 'node:net'
import { TooManyRequestsException, UnauthorizedException } from '@fastify-modular/core'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { AccountStore } from './accounts.ts'
import { verifyPassword } from './passwords.ts'
import { challenge, type SessionStore } from './sessions.ts'

export const Credentials = Type.Object({
  username: Type.String({ minLength: 1, maxLength: 100, pattern: '^[^\\u0000]*$' }), // PostgreSQL has no NUL in text
  password: Type.String({ minLength: 1, maxLength: 200 }),
})

export interface SignInParts {
  readonly accounts: AccountStore
  readonly sessions: SessionStore
  readonly throttle: SignInThrottle
}

/**
 * Starts a session for the account and returns its identifier.
 * @throws {TooManyRequestsException} see `createSignInThrottle`
 * @throws {UnauthorizedException} unknown account or wrong password
 */
export async function signIn(
  { accounts, sessions, throttle }: SignInParts,
  { username, password }: Static<typeof Credentials>,
  { ip: address, log }: Pick<FastifyRequest, 'ip' | 'log'>,
): Promise<string> {
  const name = username.trim().toLowerCase()
  takeAttempt(throttle, name, address)

  const account = await accounts.find(name)
  const isRight = await verifyPassword(password, account?.passwordHash)
  // The check takes a tenth of a second, in which another instance may change the password: the session counts.
  const id = account && isRight ? await sessions.start(account) : null
  if (id === null) {
    // Not the name as it was typed, which may be a password. The throttle bounds these lines.
    log.info({ audit: 'sign-in.failure', account: account?.name ?? null, address }, 'a sign-in has failed')
    throw new UnauthorizedException('The user name or the password is wrong.', challenge)
  }
  throttle.reset(name, address)
  return id
}

/** Counts an attempt. @throws {TooManyRequestsException} there were too many */
export function takeAttempt(throttle: SignInThrottle, name: string, address: string): void {
  const wait = throttle.take(name, address)
  if (wait > 0) throw new TooManyRequestsException(wait, `Too many attempts. Try again in ${wait} seconds.`)
}

/** Limits attempts by account and by network. */
export interface SignInThrottle {
  /** Counts an attempt. Seconds to wait when there were too many, else 0. */
  take(account: string, address: string): number
  /** Forgets the attempts for this account from there, and that this one was made: it was right. */
  reset(account: string, address: string): void
}

/**
 * Ten failed attempts a minute for one account, a hundred for all accounts together, from one network. The second bound
 * comes first: it also keeps a flood of made-up names from pushing others out of memory.
 */
export function createSignInThrottle(now: () => number = Date.now): SignInThrottle {
  const networks = createThrottle({ limit: 100 }, now)
  const accounts = createThrottle({ limit: 10 }, now)
  const keyOf = (account: string, address: string): string => `${account} ${networkOf(address)}`
  return {
    take(account, address) {
      return networks.take(networkOf(address)) || accounts.take(keyOf(account, address))
    },
    reset(account, address) {
      accounts.reset(keyOf(account, address))
      networks.giveBack(networkOf(address))
    },
  }
}

/** The address itself, or the /64 of an IPv6 address: its lower half is the client's to choose. */
export function networkOf(address: string): string {
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? []
  if (mapped !== undefined) return mapped
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('::')
  const groups = head === '' ? [] : head.split(':')
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail === '' ? 0 : tail.split(':').length)
  const all = [...groups, ...Array.from({ length: missing }, () => '0'), ...(tail?.split(':') ?? [])]
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}

/** Counts attempts for each key. */
interface Throttle {
  /** Counts an attempt. Seconds to wait when there were too many, else 0. */
  take(key: string): number
  /** Takes one attempt back: it proved to be no attack. */
  giveBack(key: string): void
  /** Forgets the attempts of a key. */
  reset(key: string): void
}

interface Window {
  readonly endsAt: number
  readonly attempts: number
}

/** In memory: it bounds what one process lets through. `now` is in ms. */
export function createThrottle(
  { limit = 10, window = 60_000, maxKeys = 10_000 } = {},
  now: () => number = Date.now,
): Throttle {
  const windows = new Map<string, Window>()

  return {
    take(key) {
      const time = now()
      const known = windows.get(key)
      const current = known && known.endsAt > time ? known : { endsAt: time + window, attempts: 0 }
      if (current.attempts >= limit) return Math.ceil((current.endsAt - time) / 1000)
      windows.delete(key) // moves the key to the end: the first one is the oldest
      windows.set(key, { ...current, attempts: current.attempts + 1 })
      if (windows.size > maxKeys) forgetOldest(windows)
      return 0
    },
    giveBack(key) {
      const known = windows.get(key)
      if (known) windows.set(key, { ...known, attempts: known.attempts - 1 })
    },
    reset: (key) => void windows.delete(key),
  }
}

function forgetOldest(windows: Map<string, Window>): void {
  for (const key of windows.keys()) {
    windows.delete(key)
    return
  }
}
