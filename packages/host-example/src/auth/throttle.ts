/** Limits attempts to sign in, for all instances together: @fastify/rate-limit counts them in the database. */
import { callbackify } from 'node:util'
import rateLimit, { type FastifyRateLimitStore, normalizeIP } from '@fastify/rate-limit'
import { TooManyRequestsException } from '@fastify-modular/core'
import { sql } from 'drizzle-orm'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Database } from '../database/database.ts'
import { accountIn } from './login-form.ts'

export interface SignInThrottle {
  /** Counts an attempt. @throws {TooManyRequestsException} there were too many */
  take(request: FastifyRequest): Promise<void>
  /** Forgets the attempts for the account of a request: this one was right. */
  forget(request: FastifyRequest): Promise<void>
}

/** The address, or the /64 of an IPv6 address: its lower half is the client's to choose. */
const networkOf = ({ ip }: FastifyRequest): string => normalizeIP(ip)
const keyOf = (request: FastifyRequest): string => `${accountIn(request.body)} ${networkOf(request)}`

/**
 * Ten attempts a minute for one account from one network until one is right, a hundred for all accounts together. The
 * second bound comes first: it also keeps a flood of made-up names out of the database.
 */
export async function addThrottle(app: FastifyInstance, database: Database): Promise<SignInThrottle> {
  await app.register(rateLimit, { global: false, store: storeIn(database) })
  const timeWindow = 60_000
  const checks = [
    app.createRateLimit({ max: 100, timeWindow, keyGenerator: networkOf }),
    app.createRateLimit({ max: 10, timeWindow, keyGenerator: keyOf }),
  ]
  return {
    async take(request) {
      for (const check of checks) {
        const limit = await check(request)
        if (limit.isAllowed || !limit.isExceeded) continue
        const wait = Math.max(limit.ttlInSeconds, 1)
        throw new TooManyRequestsException(wait, `Too many attempts. Try again in ${wait} seconds.`)
      }
    },
    forget: (request) => database.run(sql`delete from attempts where key = ${keyOf(request)}`),
  }
}

/** The plugin takes a class, of which it makes one object. */
function storeIn(database: Database) {
  async function count(key: string, timeWindow: number): Promise<{ current: number; ttl: number }> {
    const now = Date.now()
    await database.run(sql`delete from attempts where ends_at <= ${now}`)
    const [row] = await database.rows(sql`
      insert into attempts (key, made, ends_at) values (${key}, 1, cast(${now + timeWindow} as bigint))
      on conflict (key) do update set made = attempts.made + 1
      returning made, ends_at`)
    return { current: Number(row?.['made']), ttl: Math.max(Number(row?.['ends_at']) - now, 0) }
  }
  return class AttemptStore implements FastifyRateLimitStore {
    incr(...[key, done, timeWindow]: Parameters<FastifyRateLimitStore['incr']>): void {
      callbackify(count)(key, timeWindow, done)
    }

    child(): this {
      return this
    }
  }
}
