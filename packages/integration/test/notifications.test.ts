/** What settings and events on one PostgreSQL notify: NOTIFY makes the commits of a database take turns. */
import { defineEvent, events, pgTx } from '@fastify-modular/core'
import { pgBoss } from '@fastify-modular/core/events/pg-boss'
import { setting, SettingChanged, settings, SettingScope } from '@fastify-modular/settings'
import { postgres } from '@fastify-modular/settings/postgres'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { until } from '@fastify-modular/test-support/until'
import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import { Client, Pool } from 'pg'
import { test, type Test } from 'tap'

class Greeted extends defineEvent('test.greeted', Type.Object({ name: Type.String() })) {}

const definitions = [
  {
    title: setting.text('app.title', { displayName: 'Title', scope: SettingScope.Application }),
    theme: setting.text('app.theme', { displayName: 'Theme', scope: SettingScope.User }),
  },
]

/** Nothing is polled: what arrives, arrives because it was announced. */
const unpolled = { pollInterval: 3_600_000, lease: 24 * 3_600_000, closeTimeout: 20 }

interface Instance {
  readonly app: FastifyInstance
  readonly pool: Pool
  /** The statements of each connection, in their order. */
  readonly statements: string[][]
}

/** An instance whose settings and events share a pool; without `handle` it only publishes. */
async function startInstance(t: Test, url: string, handle?: (event: object) => void): Promise<Instance> {
  const pool = new Pool({ connectionString: url })
  pool.on('error', () => {})
  const statements: string[][] = []
  pool.on('connect', (client) => {
    const own: string[] = []
    statements.push(own)
    const query = client.query.bind(client)
    Reflect.set(client, 'query', (...args: Parameters<typeof query>) => {
      const [statement] = args as unknown[]
      own.push(typeof statement === 'string' ? statement : String(Reflect.get(Object(statement), 'text')))
      return query(...args)
    })
  })
  class ChangedHandler {
    static readonly event = SettingChanged
    handle(event: SettingChanged): void {
      handle?.(event)
    }
  }
  class GreetedHandler {
    static readonly event = Greeted
    handle(event: Greeted): void {
      handle?.(event)
    }
  }
  const app = Fastify({ pluginTimeout: 120_000 })
  t.teardown(async () => {
    await app.close()
    await pool.end()
  })
  const handlers = handle ? [ChangedHandler, GreetedHandler] : []
  await app.register(events, { transport: pgBoss({ pool, ...unpolled }), handlers })
  await app.register(settings, { store: postgres({ pool }), definitions, routes: false })
  await app.ready()
  return { app, pool, statements }
}

async function startInstances(t: Test) {
  const { url } = await testDatabase(t)
  const seen: object[] = []
  await startInstance(t, url, (event) => seen.push(event))
  const publisher = await startInstance(t, url)
  const client = new Client(url)
  await client.connect()
  t.teardown(() => client.end())
  await until(async () => {
    // Events and settings of both instances; a connection that has listened for long is tested.
    const listening = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND query ~ '^(LISTEN .*|SELECT 1)$' AND state = 'idle'`
    return (await client.query(listening)).rows.length === 4
  })
  for (const own of publisher.statements) own.length = 0
  return { ...publisher, client, seen }
}

const isNotifying = (statement: string): boolean => /notify/i.test(statement)

/** Statements that ran between a `begin` and its `commit` or `rollback`. */
function withinTransactions(statements: readonly (readonly string[])[]): string[] {
  return statements.flatMap((own) => {
    let isOpen = false
    return own.filter((statement) => {
      if (/^\s*(?:commit|rollback)/i.test(statement)) isOpen = false
      const isWithin = isOpen
      if (/^\s*begin/i.test(statement)) isOpen = true
      return isWithin
    })
  })
}

test('a write whose transaction settings owns carries no NOTIFY, and its event arrives elsewhere at once', async (t) => {
  const { app, statements, seen } = await startInstances(t)
  await app.settings.set('app.title', 'one')
  await app.settings.set('app.theme', 'dark', { userId: 'alice' })
  await app.settings.setMany([{ key: 'app.title', scope: SettingScope.Application, value: 'two' }])
  await until(() => seen.length === 3)
  const inside = withinTransactions(statements)
  t.equal(inside.filter((statement) => statement.includes('pgboss.job')).length, 3, 'events are part of it')
  t.same(inside.filter(isNotifying), [])
})

test('a transaction of the application notifies at its commit', async (t) => {
  const { app, client, seen } = await startInstances(t)
  await client.query('BEGIN')
  await app.events.publish(new Greeted({ name: 'alice' }), { tx: pgTx(client) })
  await client.query('COMMIT')
  await until(() => seen.length === 1)
})
