/** Signing in: throttled, with one answer for unknown accounts and wrong passwords. */
import { TooManyRequestsException, UnauthorizedException } from '@fastify-modular/core'
import { type Static, Type } from '@sinclair/typebox'
import type { AccountStore } from '../accounts.ts'
import { verifyPassword } from '../passwords.ts'
import type { SessionStore } from '../sessions.ts'
import type { SignInThrottle } from './sign-in-throttle.ts'

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
  address: string,
): Promise<string> {
  const name = username.trim().toLowerCase()
  const wait = throttle.take(name, address)
  if (wait > 0) throw new TooManyRequestsException(wait, `Too many attempts. Try again in ${wait} seconds.`)

  const account = await accounts.find(name)
  const isRight = await verifyPassword(password, account?.passwordHash)
  // The check takes a tenth of a second, in which another instance may change the password: the session counts.
  const id = account && isRight ? await sessions.start(account) : null
  if (id === null) throw new UnauthorizedException('The user name or the password is wrong.')
  throttle.reset(name, address)
  return id
}
