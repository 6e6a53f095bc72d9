/**
 * Sessions in a table of SQLite or PostgreSQL. It knows hashes of their identifiers alone: who reads the table cannot take
 * a session over.
 */
import { createHash } from 'node:crypto'
import { callbackify } from 'node:util'
import type { SessionStore } from '@fastify/session'
import type { Session } from 'fastify'
import type { Query } from './accounts.ts'

export const sessionTables = [
  `create table if not exists sessions (
    id text primary key,
    account text,
    data text not null,
    expires_at bigint not null
  )`,
  'create index if not exists sessions_by_account on sessions (account)',
]

export function sessionsIn(query: Query): SessionStore {
  return {
    set: callbackify(async (id: string, session: Session) => {
      await query('delete from sessions where expires_at < $1', [Date.now()])
      await query(
        `insert into sessions (id, account, data, expires_at) values ($1, $2, $3, $4)
        on conflict (id) do update
        set account = excluded.account, data = excluded.data, expires_at = excluded.expires_at`,
        [hash(id), session.account ?? null, JSON.stringify(session), Number(session.cookie.expires)],
      )
    }),
    get: callbackify(async (id: string) => {
      const [row] = await query('select data from sessions where id = $1 and expires_at > $2', [
        hash(id),
        Date.now(),
      ])
      return row ? (JSON.parse(String(row['data'])) as Session) : null // written by set
    }),
    destroy: callbackify(async (id: string) => {
      await query('delete from sessions where id = $1', [hash(id)])
    }),
  }
}

const hash = (id: string): string => createHash('sha256').update(id).digest('base64url')
