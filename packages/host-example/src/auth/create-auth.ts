/** Signing in, put together. */
import type { AuthProvider } from '@fastify-modular/public-routes'
import type { HostConfig } from '../config.ts'
import type { Database } from '../database/database.ts'
import { createAccountStore } from './accounts.ts'
import type { LoginRoutesOptions } from './login-routes.ts'
import { hashOfNobody } from './passwords.ts'
import { seedAccounts } from './accounts.ts'
import { createSessionCookie } from './sessions.ts'
import { createSessionProvider } from './sessions.ts'
import { createSessionStore } from './sessions.ts'
import { createSignInThrottle } from './sign-in.ts'

export interface Auth {
  /** For the gate. */
  readonly provider: AuthProvider
  /** For the routes that start and end sessions. */
  readonly login: Omit<LoginRoutesOptions, 'document' | 'script'>
}

/** Opens accounts and sessions, and creates the accounts that a first boot needs. */
export async function createAuth(database: Database, config: HostConfig): Promise<Auth> {
  const accounts = createAccountStore(database)
  const sessions = createSessionStore(database)
  const cookie = createSessionCookie(config.isProduction)
  await Promise.all([seedAccounts(accounts, config.accounts), hashOfNobody()])
  const isDemo = config.accounts.kind === 'demo'
  return {
    provider: createSessionProvider(sessions, cookie),
    login: { accounts, sessions, cookie, throttle: createSignInThrottle(), isDemo },
  }
}
