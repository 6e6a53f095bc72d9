/** Sessions: their rows, the signed cookie that carries the identifier, and the caller that the gate finds by it. */
import { createHash, randomBytes } from 'node:crypto'
import type { Caller } from '@fastify-modular/core'
import type { AuthProvider } from '@fastify-modular/public-routes'
import type { CookieSerializeOptions } from '@fastify/cookie'
import { sql } from 'drizzle-orm'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Database } from '../database/database.ts'
import { type Account, toCaller } from './accounts.ts'

/** How long a session lasts: 12 hours, in ms. */
export const sessionLifetime = 12 * 60 * 60 * 1000

export interface SessionStore {
  /**
   * Starts a session and returns its identifier, 256 random bits: the only copy there is. Null when the account is gone
   * or its password is no longer the one that was checked.
   */
  start(account: Pick<Account, 'name' | 'passwordHash'>): Promise<string | null>
  /** The account of the session as a caller; null when the session is unknown or over. */
  find(id: string): Promise<Caller | null>
  end(id: string): Promise<void>
}

/** The database holds hashes of the identifiers: an attacker who reads it cannot take a session over. */
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

/** A fast hash is enough: 256 random bits cannot be guessed. */
function hash(id: string): string {
  return createHash('sha256').update(id).digest('base64url')
}

export interface SessionCookie {
  /** The identifier, or null without a cookie or with a signature that is not ours. */
  read(request: FastifyRequest): string | null
  write(reply: FastifyReply, id: string): void
  clear(reply: FastifyReply): void
}

/** A cookie that the browser sends over TLS only, and that no other host of the domain can set (`__Host-`). */
const secure = { name: '__Host-session', secure: true } as const

/** For a demonstration without TLS. */
const plain = { name: 'session', secure: false } as const

/** `alwaysSecure` where every request travels over TLS; otherwise the protocol of each request decides. */
export function createSessionCookie(alwaysSecure: boolean): SessionCookie {
  const kindOf = ({ protocol }: FastifyRequest) => (alwaysSecure || protocol === 'https' ? secure : plain)
  const attributes: CookieSerializeOptions = { path: '/', httpOnly: true, sameSite: 'lax' }
  return {
    read(request) {
      const { cookie } = request.headers
      const signed =
        cookie === undefined ? undefined : request.server.parseCookie(cookie)[kindOf(request).name]
      return signed === undefined ? null : request.unsignCookie(signed).value
    },
    write(reply, id) {
      const { name, secure } = kindOf(reply.request)
      reply.setCookie(name, id, { ...attributes, secure, signed: true, maxAge: sessionLifetime / 1000 })
    },
    clear(reply) {
      const { name, secure } = kindOf(reply.request)
      reply.clearCookie(name, { ...attributes, secure })
    },
  }
}

/** The `WWW-Authenticate` of a 401. Without it that would ask for a bearer token. */
export const challenge = 'Cookie'

/** The provider of cookie sessions. A request without a cookie of ours costs no query. */
export function createSessionProvider(sessions: SessionStore, cookie: SessionCookie): AuthProvider {
  return {
    loginUrl: '/login',
    challenge: () => challenge,
    openapi: { session: { type: 'apiKey', in: 'cookie', name: 'session' } },
    authenticate(request) {
      const id = cookie.read(request)
      return id === null ? null : sessions.find(id)
    },
  }
}
