/** Who can sign in after the first boot. */
import type { AccountsConfig } from '../config.ts'
import type { AccountStore } from './accounts.ts'
import { hashPassword, verifyPassword } from './passwords.ts'

/** The accounts of a demonstration; the password of each is `demo-<name>`. */
export const demoAccounts = [
  { name: 'admin', permissions: [], isAdmin: true },
  { name: 'editor', permissions: ['Settings.Update'], isAdmin: false },
  { name: 'alice', permissions: [], isAdmin: false },
  { name: 'bob', permissions: [], isAdmin: false },
] as const

/**
 * Creates the demo accounts, or the one administrator of a real installation. The latter also removes demo accounts that
 * an earlier boot on the same database left, and takes a changed HOST_ADMIN_PASSWORD over.
 */
export async function seedAccounts(accounts: AccountStore, config: AccountsConfig): Promise<void> {
  if (config.kind === 'demo') {
    // One after another: hashing occupies the threads that a new connection to PostgreSQL proves its password with.
    for (const account of demoAccounts) await addDemoAccount(accounts, account)
    return
  }
  await accounts.removeDemoAccounts()
  const admin = await accounts.find('admin')
  if (admin && (await verifyPassword(config.adminPassword, admin.passwordHash))) return
  const passwordHash = await hashPassword(config.adminPassword)
  if (admin) await accounts.setPassword('admin', passwordHash)
  else
    await accounts.addIfMissing({
      name: 'admin',
      passwordHash,
      permissions: [],
      isAdmin: true,
      isDemo: false,
    })
}

async function addDemoAccount(accounts: AccountStore, account: (typeof demoAccounts)[number]): Promise<void> {
  if (await accounts.find(account.name)) return // hashing is the slow part of a boot
  await accounts.addIfMissing({
    ...account,
    passwordHash: await hashPassword(`demo-${account.name}`),
    isDemo: true,
  })
}
