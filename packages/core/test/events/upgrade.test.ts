/** Events that the release before wrote: those that wait, those that a killed process held, dead letters. */
import { setTimeout as delay } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import Database from 'better-sqlite3'
import Fastify, { type FastifyInstance } from 'fastify'
import pg from 'pg'
import PgBoss from 'pg-boss'
import { test, type Test } from 'tap'
import { defineEvent, defineModule, type EventTransport, events, modules } from '@fastify-modular/core'
import { pgBoss } from '@fastify-modular/core/events/pg-boss'
import { sqliteOutbox } from '@fastify-modular/core/events/sqlite-outbox'
import { testDatabase } from '@fastify-modular/test-support/postgres'

class Numbered extends defineEvent('test.numbered', Type.Object({ number: Type.Integer() })) {}

/** Writes what the release before left; its maxAttempts are 3. */
const engines: Record<string, (t: Test) => Promise<EventTransport>> = {
  async sqliteOutbox() {
    const database = new Database(':memory:')
    database.exec(`
      CREATE TABLE event_subscription (handler TEXT NOT NULL PRIMARY KEY, type TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE event_outbox (
        id INTEGER PRIMARY KEY AUTOINCREMENT, event_id TEXT NOT NULL, type TEXT NOT NULL, payload TEXT NOT NULL,
        published_at INTEGER NOT NULL);
      CREATE TABLE event_delivery (
        event INTEGER NOT NULL REFERENCES event_outbox (id), handler TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0,
        due_at INTEGER NOT NULL, dead_at INTEGER, error TEXT, PRIMARY KEY (event, handler)) WITHOUT ROWID;
      CREATE INDEX event_delivery_due ON event_delivery (due_at) WHERE dead_at IS NULL;
      CREATE INDEX event_delivery_dead ON event_delivery (dead_at) WHERE dead_at IS NOT NULL;
      INSERT INTO event_subscription VALUES ('tests.NumberedHandler', 'test.numbered');
      INSERT INTO event_outbox (event_id, type, payload, published_at) VALUES
        ('e1', 'test.numbered', '{"number":1}', 1), ('e2', 'test.numbered', '{"number":2}', 2),
        ('e3', 'test.numbered', '{"number":3}', 3), ('e4', 'test.numbered', '{"number":4}', 4);
      INSERT INTO event_delivery VALUES
        (1, 'tests.NumberedHandler', 0, 1, NULL, NULL),
        (2, 'tests.NumberedHandler', 2, 1, NULL, 'Error: twice'),
        (3, 'tests.NumberedHandler', 3, 1, NULL, NULL),
        (4, 'tests.NumberedHandler', 3, 1, 4, 'Error: thrice');
    `)
    return sqliteOutbox({ database, maxAttempts: 3, pollInterval: 5 })
  },
  async pgBoss(t) {
    const { url } = await testDatabase(t)
    const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false })
    await boss.start()
    const queue = 'events.tests.NumberedHandler'
    const deadLetter = 'events.dead-letters'
    await boss.createQueue(deadLetter, { name: deadLetter, retryLimit: 0 })
    await boss.createQueue(queue, {
      name: queue,
      retryLimit: 2,
      retryDelay: 1,
      deadLetter,
      expireInSeconds: 1,
    })
    await boss.subscribe('test.numbered', queue)
    const send = (number: number) =>
      boss.send(queue, { eventId: `e${number}`, type: 'test.numbered', handler: queue, payload: { number } })
    await send(4)
    for (let attempt = 0; attempt < 3; attempt++) {
      const [job] = await boss.fetch(queue)
      await boss.fail(queue, job?.id ?? '', { message: 'Error: thrice' })
      await execute(url, 'UPDATE pgboss.job SET start_after = now()')
    }
    await send(3)
    await boss.fetch(queue) // and was killed: 3 is active
    await execute(url, `UPDATE pgboss.job SET started_on = now() - interval '1 min' WHERE state = 'active'`)
    await send(1)
    await send(2)
    await boss.stop({ graceful: false })
    return pgBoss({ connectionString: url, timeouts: { connect: 60_000 }, maxAttempts: 3, pollInterval: 50 })
  },
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(sql)
  await client.end()
}

/** Waits until something is the case, at most 20 seconds. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 20_000; !(await isSo()); await delay(10)) {
    if (Date.now() > end) throw new Error('it was not so within 20 s')
  }
}

for (const [name, open] of Object.entries(engines)) {
  test(`${name}: what the release before left is delivered after the upgrade`, async (t) => {
    const seen: string[] = []
    class NumberedHandler {
      static event = Numbered
      handle({ number, eventId }: Numbered) {
        seen.push(`${number} ${eventId}`)
      }
    }
    const app: FastifyInstance = Fastify()
    t.teardown(() => app.close())
    await app.register(events, { transport: await open(t) })
    await app.register(modules, { modules: [defineModule({ name: 'tests', handlers: [NumberedHandler] })] })
    await app.ready()
    await until(() => app.events.stats().handled === 3)
    t.same(seen.toSorted(), ['1 e1', '2 e2', '3 e3'])

    const [dead, ...others] = (await app.events.deadLetters?.list()) ?? []
    t.same(others, [])
    t.match(dead, { eventId: 'e4', handler: 'tests.NumberedHandler', attempts: 3, error: 'Error: thrice' })
    t.equal(await app.events.deadLetters?.replay(dead?.id ?? ''), true)
    await until(() => app.events.stats().handled === 4)
    t.equal(seen.at(-1), '4 e4')
  })
}
