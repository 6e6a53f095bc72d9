/** Accounts in a table of SQLite or PostgreSQL: their passwords, and what the callers are who sign in with them. */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import type { Caller } from '@fastify-modular/core'
import type { SignIn } from './sign-in.ts'

/** Runs a statement, with its parameters for `$1`, `$2` and so on, and returns its rows. */
export type Query = (
  text: string,
  values?: readonly unknown[],
) => Promise<Readonly<Record<string, unknown>>[]>

export const accountsTable = `create table if not exists accounts (
  id text primary key,
  hash text not null,
  caller text not null
)`

export interface Accounts extends SignIn {
  /** Adds an account, or replaces it and ends its sessions. */
  save(caller: Caller, password: string): Promise<void>
  /** Removes an account and ends its sessions. */
  remove(id: string): Promise<void>
  /** Returns the names of people by the ids of their accounts: of these, or of all. */
  names(ids?: readonly string[]): Promise<Record<string, string>>
}

export function accountsIn(query: Query): Accounts {
  const hashOfNobody = unusableHash()

  async function find(id: string) {
    const [row] = await query('select hash, caller from accounts where id = $1', [id])
    return row ? { hash: String(row['hash']), caller: callerIn(row) } : null
  }

  return {
    async check(user, password) {
      const account = await find(user)
      // An unknown user takes as long as a wrong password: the time must not tell who has an account.
      const isRight = await verifyPassword(password, account?.hash ?? hashOfNobody)
      return account && isRight ? account.caller : null
    },
    find: async (id) => (await find(id))?.caller ?? null,
    async save(caller, password) {
      const { id } = caller
      await query(
        `insert into accounts (id, hash, caller) values ($1, $2, $3)
        on conflict (id) do update set hash = excluded.hash, caller = excluded.caller`,
        [id, await hashPassword(password), JSON.stringify(caller)],
      )
      await query('delete from sessions where account = $1', [id])
    },
    async remove(id) {
      await query('delete from accounts where id = $1', [id])
      await query('delete from sessions where account = $1', [id])
    },
    async names(ids) {
      const callers = (await query('select caller from accounts')).map(callerIn)
      const wanted = callers.filter(({ id }) => ids?.includes(id) ?? true)
      return Object.fromEntries(wanted.map(({ id, name }) => [id, name ?? id]))
    },
  }
}

function callerIn(row: Readonly<Record<string, unknown>>): Caller {
  return JSON.parse(String(row['caller'])) as Caller // written by save
}

/** 16 MiB and about a tenth of a second, as OWASP has it; a hash carries its cost, which may rise. */
const cost = { N: 2 ** 14, r: 8, p: 5 }

async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16).toString('base64url')
  return `${cost.N}.${cost.p}.${salt}.${(await derive(password, salt, cost)).toString('base64url')}`
}

/** The hash of no password, as dear to check as that of one. */
function unusableHash(): string {
  return `${cost.N}.${cost.p}.${randomBytes(16).toString('base64url')}.${randomBytes(32).toString('base64url')}`
}

async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const [N, p, salt = '', hash = ''] = stored.split('.')
  const key = await derive(password, salt, { N: Number(N), r: cost.r, p: Number(p) })
  return timingSafeEqual(key, Buffer.from(hash, 'base64url'))
}

function derive(password: string, salt: string, options: typeof cost): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, 32, options, (error, key) => (error ? reject(error) : resolve(key)))
  })
}
