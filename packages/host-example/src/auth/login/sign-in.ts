/** Signing in: throttled, with one answer for unknown accounts and wrong passwords. */
import { TooManyRequestsException, UnauthorizedException } from '@fastify-modular/core'
import { type Static, Type } from '@sinclair/typebox'
import type { AccountStore } from '../accounts.ts'
import { verifyPassword } from '../passwords.ts'
import type { SessionStore } from '../sessions.ts'
import type { Throttle } from './throttle.ts'

export const Credentials = Type.Object({
  username: Type.String({ minLength: 1, maxLength: 100 }),
  password: Type.String({ minLength: 1, maxLength: 200 }),
})

export interface SignInParts {
  readonly accounts: AccountStore
  readonly sessions: SessionStore
  readonly throttle: Throttle
}

/**
 * Starts a session for the account and returns its identifier.
 * @throws {TooManyRequestsException} more than ten attempts a minute for this account from this address
 * @throws {UnauthorizedException} unknown account or wrong password
 */
export async function signIn(
  { accounts, sessions, throttle }: SignInParts,
  { username, password }: Static<typeof Credentials>,
  address: string,
): Promise<string> {
  const name = username.trim().toLowerCase()
  const key = `${name} ${address}`
  const wait = throttle.take(key)
  if (wait > 0) throw new TooManyRequestsException(wait, `Too many attempts. Try again in ${wait} seconds.`)

  const account = await accounts.find(name)
  const isRight = await verifyPassword(password, account?.passwordHash)
  if (!account || !isRight) throw new UnauthorizedException('The user name or the password is wrong.')
  throttle.reset(key)
  return sessions.start(account.name)
}
