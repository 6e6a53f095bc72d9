/** What the transport on PostgreSQL does beside the contract of all: who is notified, who fetches, in which order. */
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import { test } from 'tap'
import { defineEvent, events, pgTx, modules } from '@fastify-modular/core'
import type { AsyncTx } from '@fastify-modular/core/events/durable'
import { pgBoss } from '@fastify-modular/core/events/pg-boss'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { until } from '@fastify-modular/test-support/until'
import {
  Numbered,
  unpolled,
  type Instance,
  openPool,
  startInstance,
  connect,
  silentJob,
  isFetch,
} from './pg-boss-instances.ts'

/** A transaction whose owner notifies after the commit. */
function notifyingLater(tx: AsyncTx) {
  const notices: (() => void)[] = []
  const afterCommit = (notify: () => void) => void notices.push(notify)
  return { tx: { ...tx, afterCommit }, notices }
}

test('an event costs at most two statements for each handler, and other instances nothing', async (t) => {
  const { url } = await testDatabase(t)
  const client = await connect(t, url)
  let handled = 0
  const instances: Instance[] = []
  for (let count = 0; count < 4; count++)
    instances.push(await startInstance(t, url, () => handled++, unpolled))
  for (const { statements } of instances) statements.length = 0
  const last = instances.at(-1) // it has seen all others
  for (let number = 0; number < 20; number++) {
    await last?.app.events.publish(new Numbered({ number }))
    await until(() => handled === number + 1)
  }
  const finished = async () => (await client.query('SELECT FROM pgboss.job')).rows.length === 0
  await until(finished)
  const statements = instances.flatMap((instance) => instance.statements)
  t.ok(statements.filter(isFetch).length <= 40, 'one that fetches it, one that deletes it')
  t.equal(statements.filter((one) => !isFetch(one)).length, 20, 'and one that publishes it')
})

test('an instance whose slots are taken passes a notification on', async (t) => {
  const { url } = await testDatabase(t)
  const seen: number[] = []
  await startInstance(t, url, ({ number }) => void seen.push(number), unpolled)
  const begun: number[] = []
  const hang = ({ number }: Numbered) => {
    begun.push(number)
    return new Promise(() => {})
  }
  await startInstance(t, url, hang, { ...unpolled, concurrency: 1 })
  const publisher = await startInstance(t, url, undefined, unpolled)
  let published = 0
  while (begun.length === 0) {
    await publisher.app.events.publish(new Numbered({ number: published++ }))
    await until(() => begun.length + seen.length === published)
  }
  for (let more = 0; more < 20; more++)
    await publisher.app.events.publish(new Numbered({ number: published++ }))
  await until(() => seen.length === published - 1)
  t.equal(begun.length, 1)
})

test('an idle instance is told at once of what a busy one publishes, in each of three ways', async (t) => {
  const { url } = await testDatabase(t)
  const client = await connect(t, url)
  const seen: number[] = []
  const begun: number[] = []
  const hang = ({ number }: Numbered) => {
    begun.push(number)
    return new Promise(() => {})
  }
  const idle = await startInstance(t, url, ({ number }) => void seen.push(number), unpolled)
  const busy = await startInstance(t, url, hang, { ...unpolled, concurrency: 1 })
  let published = 0
  const publishOne = async (way: number) => {
    const event = new Numbered({ number: published++ })
    if (way === 0) return busy.app.events.publish(event)
    await client.query('BEGIN')
    if (way === 1) await busy.app.events.publish(event, { tx: pgTx(client) })
    const { tx, notices } = notifyingLater(pgTx(client))
    if (way === 2) await busy.app.events.publish(event, { tx })
    await client.query('COMMIT')
    notices.forEach((notify) => notify())
    return undefined
  }
  while (begun.length === 0) {
    await publishOne(0)
    await until(() => begun.length + seen.length === published)
  }
  idle.statements.length = 0
  for (let count = 0; count < 30; count++) await publishOne(count % 3)
  await until(() => seen.length === published - 1)
  t.equal(begun.length, 1)
})

test('a hundred handlers boot in few round trips, and again in fewer', async (t) => {
  const { url } = await testDatabase(t)
  const handlers = Array.from({ length: 100 }, (_, index) => {
    const name = `Numbered${index}Handler`
    return { [name]: class { static event = Numbered; handle() {} } }[name] as object // prettier-ignore
  })
  /** What one boot sends, one after the other. */
  async function boot(): Promise<readonly string[]> {
    const pool = openPool(url)
    const statements: string[] = []
    const known = new WeakSet<object>()
    const record = <T extends { query: unknown }>(target: T): T => {
      if (known.has(target)) return target // a client that the pool hands out again
      known.add(target)
      const query = target.query as (...args: unknown[]) => unknown
      target.query = (...args: unknown[]) => {
        statements.push(String(args[0]))
        return query.apply(target, args)
      }
      return target
    }
    const recorded = record({
      connect: async () => record(await pool.connect()),
      on: (event: 'error', listener: (error: Error) => void) => pool.on(event, listener),
      end: () => pool.end(),
      query: (text: string, params?: unknown[]) => pool.query<object>(text, params),
    })
    const app = Fastify({ pluginTimeout: 120_000 })
    await app.register(events, { transport: pgBoss({ pool: recorded }) })
    await app.register(modules, { modules: [{ name: 'm', handlers: handlers as never }] })
    const sent = [...statements]
    await app.close()
    await pool.end()
    return sent
  }
  // With round trips of 10 ms the first boot waits 1.5 s for the network, of the 10 s that Fastify gives a plugin.
  t.ok((await boot()).length < 150)
  const again = await boot()
  t.ok(again.length < 30, `${again.length} statements`)
  t.equal(
    again.filter((text) => text.includes('advisory')).length,
    2,
    'two exclusive sections: tables, and all handlers',
  )
})

test('what is woken after the commit is notified in no transaction, at most once for each instance', async (t) => {
  const { url } = await testDatabase(t)
  const client = await connect(t, url)
  let handled = 0
  await startInstance(t, url, () => handled++, unpolled)
  const publisher = await startInstance(t, url, undefined, unpolled)
  publisher.statements.length = 0
  const texts: string[] = []
  const recorded = pgTx({
    query(text, params) {
      texts.push(text)
      return client.query<object>(text, params)
    },
  })
  await client.query('BEGIN')
  const { tx, notices } = notifyingLater(recorded)
  for (let number = 0; number < 100; number++)
    await publisher.app.events.publish(new Numbered({ number }), { tx })
  await client.query('COMMIT')
  t.notOk(texts.some((text) => text.includes('notify')))
  for (const notify of notices) notify()
  await until(() => handled === 100)
  t.equal(publisher.statements.filter(({ text }) => text.includes('pg_notify')).length, 1)
})

test('an instance that is picked itself wakes without any notification', async (t) => {
  const { url } = await testDatabase(t)
  const client = await connect(t, url)
  let handled = 0
  const { app, statements } = await startInstance(t, url, () => handled++, unpolled)
  await client.query('BEGIN')
  const { tx, notices } = notifyingLater(pgTx(client))
  await app.events.publish(new Numbered({ number: 1 }), { tx })
  await client.query('COMMIT')
  for (const notify of notices) notify()
  await until(() => handled === 1)
  t.notOk(statements.some(({ text }) => text.includes('pg_notify')))
})

test('what is stored during a look is found by another look, where a notification asks for one', async (t) => {
  const { url } = await testDatabase(t)
  const client = await connect(t, url)
  const blocker = await connect(t, url)
  let handled = 0
  await startInstance(t, url, () => handled++, unpolled)
  await blocker.query('BEGIN')
  await blocker.query('SELECT FROM pgboss.fmod_worker FOR UPDATE')
  await client.query(`SELECT pg_notify('pgboss_events', '')`)
  await until(async () => {
    const { rows } = await client.query(`
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
    return rows.length === 1 // the look has begun, and does not see what is written from now on
  })
  await client.query(silentJob)
  await client.query(`SELECT pg_notify('pgboss_events', '')`)
  await blocker.query('COMMIT')
  await until(() => handled === 1)
})

test('events are fetched several at a time, in the order in which they were published', async (t) => {
  const { url } = await testDatabase(t)
  const client = await connect(t, url)
  const seen: number[] = []
  const { app, statements } = await startInstance(t, url, ({ number }) => void seen.push(number), unpolled)
  statements.length = 0
  await client.query('BEGIN')
  for (let number = 0; number < 100; number++)
    await app.events.publish(new Numbered({ number }), { tx: pgTx(client) })
  await client.query('COMMIT')
  await until(() => seen.length === 100)
  t.same(
    seen,
    Array.from({ length: 100 }, (_, number) => number),
  )
  t.ok(statements.filter(isFetch).length <= 12, 'ten slots, ten events a fetch')
})

test('a handler is notified, and listed when it is removed, whatever its module is called', async (t) => {
  const { url } = await testDatabase(t)
  let handled = 0
  class NumberedHandler {
    static event = Numbered
    handle() {
      handled++
    }
  }
  const app = Fastify({ pluginTimeout: 120_000 })
  t.teardown(() => app.close())
  await app.register(events, { transport: pgBoss({ connectionString: url, ...unpolled }) })
  await app.register(modules, { modules: [{ name: 'Öl & Gas', handlers: [NumberedHandler] }] })
  await app.ready()
  const other = await startInstance(t, url)
  await other.app.events.publish(new Numbered({ number: 1 }))
  await until(() => handled === 1)
  t.same(await other.app.events.removedHandlers?.list(), [
    { handler: 'Öl & Gas.NumberedHandler', waiting: 0, isRunning: true },
  ])
})

test('at boot an instance warns of the handlers that no instance has, and not of those that others have', async (t) => {
  const { url } = await testDatabase(t)
  class Greeted extends defineEvent('test.greeted', Type.Object({})) {}
  const start = async (module: string) => {
    const warnings: unknown[] = []
    const write = (line: string) => void warnings.push(JSON.parse(line))
    const app = Fastify({ pluginTimeout: 120_000, logger: { level: 'warn', stream: { write } } })
    t.teardown(() => app.close())
    await app.register(events, { transport: pgBoss({ connectionString: url, ...unpolled }) })
    class GreetedHandler {
      static event = Greeted
      handle() {}
    }
    await app.register(modules, { modules: [{ name: module, handlers: [GreetedHandler] }] })
    await app.ready()
    return { app, warnings }
  }
  const gone = await start('gone')
  await gone.app.close()
  const other = await start('other')
  await until(() => other.warnings.length === 1)
  const { app, warnings } = await start('last')
  await until(() => warnings.length === 1)
  t.match(warnings, [{ handlers: [{ handler: 'gone.GreetedHandler' }] }])
  t.equal((warnings as { handlers: unknown[] }[])[0]?.handlers.length, 1)
  t.equal((await app.events.removedHandlers?.list())?.length, 2)
})
