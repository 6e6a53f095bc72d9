/** Signing in, put together. */
import type { HostConfig } from '../config.ts'
import type { Database } from '../database/database.ts'
import { createAccountStore, seedAccounts } from './accounts.ts'
import type { LoginRoutesOptions } from './login-routes.ts'
import { hashOfNobody } from './passwords.ts'
import { createSessionStore } from './sessions.ts'

/** Opens accounts and sessions, and creates the accounts that a first boot needs. */
export async function createAuth(
  database: Database,
  config: HostConfig,
): Promise<Omit<LoginRoutesOptions, 'document'>> {
  const accounts = createAccountStore(database)
  await Promise.all([seedAccounts(accounts, config.accounts), hashOfNobody()])
  return {
    accounts,
    sessions: createSessionStore(database),
    database,
    isSecure: config.isProduction,
    isDemo: config.accounts.kind === 'demo',
  }
}
