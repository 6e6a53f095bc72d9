/** The accounts of the application, and those that a first boot creates. */
import type { Caller } from '@fastify-modular/core'
import { sql } from 'drizzle-orm'
import type { AccountsConfig } from '../config.ts'
import type { Database, Row } from '../database/database.ts'
import { hashPassword, verifyPassword } from './passwords.ts'

export interface Account {
  /** Lower case; identifies the account everywhere. */
  readonly name: string
  readonly passwordHash: string
  readonly permissions: readonly string[]
  readonly isAdmin: boolean
  /** Its password is in the documentation. */
  readonly isDemo: boolean
}

export type AccountStore = ReturnType<typeof createAccountStore>

export function createAccountStore(database: Database) {
  return {
    async find(name: string): Promise<Account | null> {
      const [row] = await database.rows(sql`select * from accounts where name = ${name}`)
      return row ? toAccount(row) : null
    },
    /** Adds the account and returns whether its name was free: of two that take it at the same moment one gets it. */
    async addIfMissing({ name, passwordHash, permissions, isAdmin, isDemo }: Account): Promise<boolean> {
      const added = await database.rows(sql`
        insert into accounts (name, password_hash, permissions, is_admin, is_demo)
        values (${name}, ${passwordHash}, ${JSON.stringify(permissions)}, ${Number(isAdmin)}, ${Number(isDemo)})
        on conflict (name) do nothing returning name`)
      return added.length > 0
    },
    /** Replaces the password and ends the account's sessions, in one transaction. */
    async setPassword(name: string, passwordHash: string): Promise<void> {
      // The update comes first: a sign-in that locked the account commits before the sessions are looked for.
      await database.runAll([
        sql`update accounts set password_hash = ${passwordHash}, is_demo = 0 where name = ${name}`,
        sql`delete from sessions where account = ${name}`,
      ])
    },
    /** Removes the accounts whose password is in the documentation. */
    async removeDemoAccounts(): Promise<void> {
      await database.run(sql`delete from accounts where is_demo = 1`)
    },
  }
}

/** The caller of an account; `row` has the columns of `accounts`. */
export function toCaller(row: Row): Caller {
  return callerOf(toAccount(row))
}

/** What the rest of the application knows of an account. */
export function callerOf({ name, permissions, isAdmin, isDemo }: Account): Caller {
  return { id: name, name: (isDemo && demoNames.get(name)) || name, permissions, isAdmin }
}

function toAccount(row: Row): Account {
  return {
    name: String(row['name']),
    passwordHash: String(row['password_hash']),
    permissions: JSON.parse(String(row['permissions'])) as string[], // written by addIfMissing
    isAdmin: Number(row['is_admin']) === 1,
    isDemo: Number(row['is_demo']) === 1,
  }
}

/** The accounts of a demonstration; the password of each is `demo-<name>`. */
export const demoAccounts = [
  { name: 'admin', person: 'Ada', permissions: [], isAdmin: true },
  { name: 'editor', person: 'Eli', permissions: ['Settings.Update'], isAdmin: false },
  { name: 'alice', person: 'Alice', permissions: [], isAdmin: false },
  { name: 'bob', person: 'Bob', permissions: [], isAdmin: false },
] as const

/** The people behind the demo accounts. */
export const demoNames: ReadonlyMap<string, string> = new Map(
  demoAccounts.map(({ name, person }) => [name, person]),
)

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
  const { name, permissions, isAdmin } = account
  const passwordHash = await hashPassword(`demo-${name}`)
  await accounts.addIfMissing({ name, passwordHash, permissions, isAdmin, isDemo: true })
}
