/** Signing in: throttled, with one answer for unknown accounts and wrong passwords. */
import { UnauthorizedException } from '@fastify-modular/core'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { refusalOf } from '../maintenance.ts'
import { type AccountStore, callerOf } from './accounts.ts'
import { accountIn } from './login-form.ts'
import { verifyPassword } from './passwords.ts'
import { challenge, type SessionStore, startSession } from './sessions.ts'
import type { SignInThrottle } from './throttle.ts'

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
 * Starts a session for the account that the body of a request names.
 * @throws {TooManyRequestsException} see `addThrottle`
 * @throws {UnauthorizedException} unknown account or wrong password
 * @throws {ServiceUnavailableException} maintenance goes on, and this is not an administrator
 */
export async function signIn(
  { accounts, sessions, throttle }: SignInParts,
  request: FastifyRequest<{ Body: Static<typeof Credentials> }>,
): Promise<void> {
  await throttle.take(request)
  const account = await accounts.find(accountIn(request.body))
  const isRight = await verifyPassword(request.body.password, account?.passwordHash)
  const refusal = isRight && account && refusalOf(request.server, callerOf(account))
  if (refusal) throw refusal
  if (account === null || !isRight || !(await startSession(request, sessions, account))) {
    // Not the name as it was typed, which may be a password. The throttle bounds these lines.
    const failure = { audit: 'sign-in.failure', account: account?.name ?? null, address: request.ip }
    request.log.info(failure, 'a sign-in has failed')
    throw new UnauthorizedException('The user name or the password is wrong.', challenge)
  }
  await throttle.forget(request)
}
