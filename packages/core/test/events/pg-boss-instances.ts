/** Instances on one PostgreSQL server whose statements are recorded. */
import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import pg from 'pg'
import type { Test } from 'tap'
import { defineEvent, events } from '@fastify-modular/core'
import { pgBoss, type PgBossCommonOptions } from '@fastify-modular/core/events/pg-boss'
import { until } from '@fastify-modular/test-support/until'

export class Numbered extends defineEvent('test.numbered', Type.Object({ number: Type.Integer() })) {}

/** Nothing is polled: what arrives, arrives by a notification. */
export const unpolled = { pollInterval: 3_600_000, lease: 24 * 3_600_000 }

export interface Statement {
  readonly text: string
  readonly params: unknown[]
}

export interface Instance {
  readonly app: FastifyInstance
  /** What this instance has sent over its pool, without the connection that listens. */
  readonly statements: Statement[]
  readonly warnings: { readonly msg: string; readonly sql?: string }[]
}

/** Its connections may still be ending when their database is dropped. */
export function openPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString })
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** An instance with connections of its own; without `handle` it only publishes. An unpolled one listens already. */
export async function startInstance(
  t: Test,
  url: string,
  handle?: (event: Numbered) => unknown,
  options: PgBossCommonOptions = {},
): Promise<Instance> {
  const pool = openPool(url)
  const statements: Statement[] = []
  let looks = 0
  const recorded = {
    connect: () => pool.connect(),
    on: (event: 'error', listener: (error: Error) => void) => pool.on(event, listener),
    end: () => pool.end(),
    async query(text: string, params: unknown[] = []) {
      statements.push({ text, params })
      const result = await pool.query<object>(text, params)
      if (isLook(text)) looks++
      return result
    },
  }
  class NumberedHandler {
    static event = Numbered
    handle(event: Numbered) {
      return handle?.(event)
    }
  }
  const warnings: { msg: string }[] = []
  const write = (line: string) => void warnings.push(JSON.parse(line) as { msg: string })
  const app = Fastify({ pluginTimeout: 120_000, logger: { level: 'warn', stream: { write } } })
  t.teardown(async () => {
    await app.close()
    await pool.end()
  })
  const transport = pgBoss({ pool: recorded, closeTimeout: 20, ...options })
  await app.register(events, { transport, handlers: handle ? [NumberedHandler] : [] })
  await app.ready()
  if (options.pollInterval) await until(() => looks === 2) // it looks when it starts and when it listens
  return { app, statements, warnings }
}

export async function connect(t: Test, url: string): Promise<pg.Client> {
  const client = new pg.Client(url)
  await client.connect()
  t.teardown(() => client.end())
  return client
}

/** An event that no instance is told of. */
export const silentJob = `
  INSERT INTO pgboss.job (name, data) SELECT name, jsonb_build_object(
    'eventId', 'e1', 'type', 'test.numbered', 'payload', '{"number":1}')
  FROM pgboss.subscription`

export const isFetch = ({ text }: Statement) => text.includes('taken AS')
export const isLook = (text: string) => text.includes('alive AS')
