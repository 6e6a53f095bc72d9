/** Sessions, kept in the database. */
import { createHash, randomBytes } from 'node:crypto'
import type { Caller } from '@fastify-modular/core'
import { sql } from 'drizzle-orm'
import type { Database } from '../database/database.ts'
import { type Account, toCaller } from './accounts.ts'

/** How long somebody stays signed in: 12 hours, in ms. */
export const sessionLifetime = 12 * 60 * 60 * 1000

export interface SessionStore {
  /**
   * Starts a session and returns its identifier, 256 random bits: the only copy there is. Null when the account is gone
   * or its password is no longer the one that was checked.
   */
  start(account: Pick<Account, 'name' | 'passwordHash'>): Promise<string | null>
  /** Whom the session belongs to; null when it is unknown or over. */
  find(id: string): Promise<Caller | null>
  end(id: string): Promise<void>
}

/** The database holds hashes of the identifiers: who reads it cannot take a session over. */
export function createSessionStore(database: Database): SessionStore {
  return {
    async start({ name, passwordHash }) {
      const id = randomBytes(32).toString('base64url')
      const now = Date.now()
      await database.run(sql`delete from sessions where expires_at <= ${now}`)
      const started = await database.rows(sql`
        insert into sessions (id_hash, account, expires_at)
        select ${hash(id)}, name, cast(${now + sessionLifetime} as bigint) from accounts
        where name = ${name} and password_hash = ${passwordHash} ${database.forShare}
        returning id_hash`)
      return started.length === 0 ? null : id
    },
    async find(id) {
      const [row] = await database.rows(sql`
        select accounts.* from sessions join accounts on accounts.name = sessions.account
        where id_hash = ${hash(id)} and expires_at > ${Date.now()}`)
      return row ? toCaller(row) : null
    },
    async end(id) {
      await database.run(sql`delete from sessions where id_hash = ${hash(id)}`)
    },
  }
}

/** Not a slow hash: 256 random bits cannot be guessed. */
function hash(id: string): string {
  return createHash('sha256').update(id).digest('base64url')
}
