/** New accounts, while the setting `system.registration_enabled` is on. */
import { ConflictException } from '@fastify-modular/core'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { refusalOf } from '../maintenance.ts'
import { demoNames } from './accounts.ts'
import { hashPassword } from './passwords.ts'
import { startSession } from './sessions.ts'
import type { SignInParts } from './sign-in.ts'

export const NewAccount = Type.Object({
  username: Type.String({ pattern: '^[a-z0-9][a-z0-9._-]{1,39}$' }),
  password: Type.String({ minLength: 8, maxLength: 200 }),
})

/**
 * Creates an account without any permission, and starts its first session.
 * @throws {TooManyRequestsException} as for attempts to sign in
 * @throws {ConflictException} the name is taken
 * @throws {ServiceUnavailableException} maintenance goes on
 */
export async function register(
  { accounts, sessions, throttle }: SignInParts,
  request: FastifyRequest<{ Body: Static<typeof NewAccount> }>,
): Promise<void> {
  const refusal = refusalOf(request.server, null)
  if (refusal) throw refusal
  await throttle.take(request)
  const { username: name, password } = request.body
  // A demo account may have left notes and preferences behind: nobody else gets its name.
  if (demoNames.has(name)) throw taken()
  const account = {
    name,
    passwordHash: await hashPassword(password),
    permissions: [],
    isAdmin: false,
    isDemo: false,
  }
  const isAdded = await accounts.addIfMissing(account)
  if (!isAdded || !(await startSession(request, sessions, account))) throw taken()
}

function taken(): ConflictException {
  return new ConflictException('This user name is taken. Choose another one.')
}
