/** The accounts that a boot creates: people of a demonstration, or the one administrator of a real installation. */
import type { Caller } from '@fastify-modular/core'
import type { Accounts } from './accounts.ts'
import type { AccountsConfig } from './config.ts'

/** The accounts of a demonstration; the password of each is `demo-<id>`. */
export const demoAccounts: readonly (Caller & { readonly name: string })[] = [
  { id: 'admin', name: 'Ada', isAdmin: true },
  { id: 'editor', name: 'Eli', permissions: ['Settings.Update'] },
  { id: 'alice', name: 'Alice' },
  { id: 'bob', name: 'Bob' },
]

/**
 * Creates those that are missing. A real installation also removes demo accounts that an earlier boot on the same database
 * left, and takes a changed HOST_ADMIN_PASSWORD over.
 */
export async function seedAccounts(accounts: Accounts, config: AccountsConfig): Promise<void> {
  for (const account of demoAccounts) {
    const { id } = account
    const password = `demo-${id}`
    if (config.kind === 'demo') {
      if (!(await accounts.find(id))) await accounts.save(account, password) // hashing is the slow part of a boot
    } else if (await accounts.check(id, password)) await accounts.remove(id)
  }
  if (config.kind === 'demo' || (await accounts.check('admin', config.adminPassword))) return
  await accounts.save({ id: 'admin', name: 'admin', isAdmin: true }, config.adminPassword)
}
