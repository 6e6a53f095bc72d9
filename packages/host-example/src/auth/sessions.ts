/** Sessions: their rows, the store in which @fastify/session finds them, and the caller that the gate finds by them. */
import { createHash } from 'node:crypto'
import { callbackify } from 'node:util'
import cookie from '@fastify/cookie'
import session, { type SessionStore as Store } from '@fastify/session'
import type { Caller } from '@fastify-modular/core'
import type { AuthProvider } from '@fastify-modular/public-routes'
import { sql } from 'drizzle-orm'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Database } from '../database/database.ts'
import { type Account, callerOf, toCaller } from './accounts.ts'

declare module 'fastify' {
  interface Session {
    caller?: Caller
    /** Why the caller is not known: the database did not answer. */
    failure?: unknown
  }
}

/** How long a session lasts, used or not: 12 hours, in ms. */
export const sessionLifetime = 12 * 60 * 60 * 1000

export type SessionStore = ReturnType<typeof createSessionStore>

/** The database holds hashes of the identifiers: an attacker who reads it cannot take a session over. */
export function createSessionStore(database: Database) {
  return {
    /**
     * Starts a session with this identifier. Returns false when the account is gone or its password is no longer the one
     * that was checked.
     */
    async start(
      id: string,
      { name, passwordHash }: Pick<Account, 'name' | 'passwordHash'>,
    ): Promise<boolean> {
      const now = Date.now()
      await database.run(sql`delete from sessions where expires_at <= ${now}`)
      const started = await database.rows(sql`
        insert into sessions (id_hash, account, expires_at)
        select ${hash(id)}, name, cast(${now + sessionLifetime} as bigint) from accounts
        where name = ${name} and password_hash = ${passwordHash} ${database.forShare}
        returning id_hash`)
      return started.length > 0
    },
    /** The account of the session as a caller; null when the session is unknown or over. */
    async find(id: string): Promise<Caller | null> {
      const [row] = await database.rows(sql`
        select accounts.* from sessions join accounts on accounts.name = sessions.account
        where id_hash = ${hash(id)} and expires_at > ${Date.now()}`)
      return row ? toCaller(row) : null
    },
    async end(id: string): Promise<void> {
      await database.run(sql`delete from sessions where id_hash = ${hash(id)}`)
    },
  }
}

/** A fast hash is enough: 192 random bits cannot be guessed. */
function hash(id: string): string {
  return createHash('sha256').update(id).digest('base64url')
}

/** Registers sessions, whose hooks run before the gate. `isSecure`: every request travels over TLS. */
export async function addSessions(
  app: FastifyInstance,
  { sessions, secret, isSecure }: { sessions: SessionStore; secret: string; isSecure: boolean },
): Promise<void> {
  await app.register(cookie)
  await app.register(session, {
    secret,
    store: storeOf(sessions),
    saveUninitialized: false,
    rolling: false,
    cookieName: cookieName(isSecure),
    cookie: { sameSite: 'lax', secure: isSecure || 'auto', maxAge: sessionLifetime },
  })
}

/** Over TLS a name that no other host of the domain can set. */
function cookieName(isSecure: boolean): string {
  return isSecure ? '__Host-session' : 'session'
}

/** The plugin finds and ends sessions here. Only `startSession` writes a row: it takes a password that was checked. */
function storeOf(sessions: SessionStore): Store {
  const cookie = { originalMaxAge: null } // the plugin fills in its options
  return {
    set: (_id, _session, done) => done(),
    get: callbackify(async (id: string) => {
      try {
        const caller = await sessions.find(id)
        return caller && { cookie, caller }
      } catch (failure) {
        return { cookie, failure } // public pages are served without a database: the provider tells the gate
      }
    }),
    destroy: callbackify((id: string) => sessions.end(id)),
  }
}

/**
 * Starts a session for an account whose password was checked. Returns false when another instance has changed the
 * password meanwhile.
 */
export async function startSession(
  request: FastifyRequest,
  sessions: SessionStore,
  account: Account,
): Promise<boolean> {
  await request.session.regenerate() // ends the former session: against session fixation
  if (!(await sessions.start(request.session.sessionId, account))) return false
  request.session.set('caller', callerOf(account))
  return true
}

/** Ends the session of a request, if it has one, and takes its cookie back. */
export async function endSession(
  request: FastifyRequest,
  reply: FastifyReply,
  isSecure: boolean,
): Promise<void> {
  const name = cookieName(isSecure)
  if (request.cookies[name] !== undefined) await request.session.destroy()
  reply.clearCookie(name, { path: '/', secure: isSecure })
}

/** The `WWW-Authenticate` of a 401. Without it that would ask for a bearer token. */
export const challenge = 'Cookie'

/** The provider of cookie sessions. */
export const sessionProvider: AuthProvider = {
  loginUrl: '/login',
  challenge: () => challenge,
  openapi: { session: { type: 'apiKey', in: 'cookie', name: 'session' } },
  authenticate({ session }) {
    if (session.failure) throw session.failure
    return session.caller ?? null
  },
}
