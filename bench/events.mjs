// P15: what handing an event over costs in process; and the throughput and delay of the durable transports.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { defineEvent, events } from '@fastify-modular/core'
import { pgBoss } from '@fastify-modular/core/events/pg-boss'
import { sqliteOutbox } from '@fastify-modular/core/events/sqlite-outbox'
import { createDatabase, startPostgres } from '@fastify-modular/test-support/postgres'
import { Type } from '@sinclair/typebox'
import Database from 'better-sqlite3'
import Fastify from 'fastify'
import pg from 'pg'
import { inRounds, measure, median, percentile, report, size } from './support/measure.mjs'

class Ticked extends defineEvent('bench.ticked', Type.Object({ number: Type.Integer() })) {}

function handlers(count, handle) {
  return Array.from({ length: count }, (_, index) => {
    const name = `Bench${index}Handler`
    return {
      [name]: class {
        static event = Ticked
        handle(event) {
          handle(event)
        }
      },
    }[name]
  })
}

async function appWith(transport, handlerClasses) {
  const app = Fastify()
  await app.register(events, { handlers: handlerClasses, ...(transport && { transport }) })
  await app.ready()
  return app
}

await handOver()
await sqlite()
await postgres()

async function handOver() {
  const batch = 2_000 // five deliveries of each: 10,000 may wait
  let calls = 0
  const handle = () => calls++
  const event = new Ticked({ number: 1 })
  const apps = {
    0: await appWith(undefined, []),
    1: await appWith(undefined, handlers(1, handle)),
    5: await appWith(undefined, handlers(5, handle)),
  }
  const batches = size(20, 1)
  const publish = (count) => async () => {
    const isDone = () => calls === batch * count
    for (let each = 0; each < batches; each++) {
      calls = 0
      for (let i = 0; i < batch; i++) void apps[count].events.publish(event)
      do await turn()
      while (!isDone())
    }
    return batch * batches
  }
  const ns = await measure({
    'bare call of one function': async () => {
      for (let i = 0; i < batch * batches; i++) handle(event)
      return batch * batches
    },
    'no handler': publish(0),
    'one handler': publish(1),
    'five handlers': publish(5),
  })
  const bare = ns['bare call of one function']
  report(
    'P15 in-process hand-over',
    Object.entries(ns).map(([what, value]) => ({
      what,
      'ns per event': Math.round(value),
      'over a bare call': Math.round(value - bare),
    })),
  )
  for (const app of Object.values(apps)) await app.close()
}

/** Publishes one by one and all at once; measures the delay of each and the rate of the whole. */
async function flow(name, transport, total) {
  const delays = []
  let done = () => {}
  const app = await appWith(
    transport,
    handlers(1, ({ number }) => {
      delays.push(performance.now() - sentAt[number])
      if (delays.length % total === 0) done()
    }),
  )
  const sentAt = []
  const all = () => new Promise((resolve) => (done = resolve))

  const finished = all()
  const start = performance.now()
  for (let number = 0; number < total; number++) {
    sentAt[number] = performance.now()
    await app.events.publish(new Ticked({ number }))
  }
  const published = performance.now() - start
  await finished
  const rate = Math.round((total / (performance.now() - start)) * 1000)
  delays.length = 0

  const sample = Math.min(200, total)
  for (let number = 0; number < sample; number++) {
    const before = delays.length
    sentAt[number] = performance.now()
    await app.events.publish(new Ticked({ number }))
    while (delays.length === before) await turn()
  }
  await app.close()
  return {
    transport: name,
    'published per s': Math.round((total / published) * 1000),
    'handled per s': rate,
    'delay p50 ms': percentile(delays, 0.5).toFixed(2),
    'delay p99 ms': percentile(delays, 0.99).toFixed(2),
  }
}

async function sqlite() {
  const row = await inSqlite((database) => flow('sqliteOutbox', sqliteOutbox({ database }), 2000))
  report('Throughput of the SQLite outbox', [row])
  await backlog('Events that wait in SQLite', sqliteRateOf)
}

/** A file whose every commit is on the disk. */
async function inSqlite(run) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const database = new Database(join(folder, 'bench.db'))
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  const result = await run(database)
  database.close()
  rmSync(folder, { recursive: true })
  return result
}

async function postgres() {
  const server = await startPostgres()
  const database = await createDatabase(server.url)
  report('Throughput of pg-boss', [await flow('pgBoss', pgBoss({ connectionString: database.url }), 2000)])
  report('Delay between two instances', [await between((await createDatabase(server.url)).url)])
  await backlog('Events that wait in pg-boss', (waiting) => rateOf(server.url, waiting))
  await server.stop()
}

/** One instance publishes, another one, with connections of its own, handles. */
async function between(connectionString) {
  let handled = () => {}
  const handling = await appWith(
    pgBoss({ connectionString }),
    handlers(1, () => handled()),
  )
  const publishing = await appWith(pgBoss({ connectionString }), [])
  const delays = []
  for (let number = 0; number < 300; number++) {
    const arrived = new Promise((resolve) => (handled = resolve))
    await publishing.events.publish(new Ticked({ number }))
    const committed = performance.now()
    await arrived
    delays.push(performance.now() - committed)
  }
  await publishing.close()
  await handling.close()
  return {
    'from the commit to the handler': 'pgBoss',
    'p50 ms': percentile(delays, 0.5).toFixed(2),
    'p99 ms': percentile(delays, 0.99).toFixed(2),
  }
}

/** How fast the first thousand events are handled, by how many wait. */
async function backlog(title, measureRate) {
  const counts = size([1_000, 30_000, 100_000], [1_000, 2_000])
  const samples = await inRounds(counts, measureRate, { rounds: size(5, 1), warmUps: 0 })
  const rate = (waiting) => median(samples.map((sample) => sample[waiting]))
  report(
    title,
    counts.map((waiting) => ({
      waiting,
      'handled per s': Math.round(rate(waiting)),
      'of the rate with 1,000 waiting': (rate(waiting) / rate(counts[0])).toFixed(2),
    })),
  )
}

async function rateOf(serverUrl, waiting) {
  const database = await createDatabase(serverUrl)
  const transport = pgBoss({ connectionString: database.url })
  const rate = await rateOfFirst(transport, () => repeatWaiting(database.url, waiting - 1))
  await database.drop()
  return rate
}

function sqliteRateOf(waiting) {
  return inSqlite((database) =>
    rateOfFirst(sqliteOutbox({ database }), () =>
      database.exec(`
        WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${waiting - 1})
        INSERT INTO event_outbox (event_id, type, payload, published_at)
        SELECT event_id || n, type, payload, published_at FROM event_outbox, n;
        INSERT INTO event_delivery (event, handler, due_at)
        SELECT o.id, handler, due_at FROM event_outbox o, event_delivery WHERE o.id <> event`),
    ),
  )
}

/** Publishes one event, has it repeated, and measures how fast the first thousand are handled. */
async function rateOfFirst(transport, repeat) {
  const sample = 1000
  let handled = 0
  let startedAt = 0
  let done = () => {}
  const finished = new Promise((resolve) => (done = resolve))
  const handle = () => {
    if (handled++ === 0) startedAt = performance.now()
    if (handled === sample) done(performance.now())
  }
  const app = Fastify()
  await app.register(events, { transport, handlers: handlers(1, handle) })
  await app.events.publish(new Ticked({ number: 0 }))
  await repeat()
  await app.ready()
  const milliseconds = (await finished) - startedAt
  await app.close()
  return ((sample - 1) / milliseconds) * 1000
}

/** Copies the one job that waits. */
async function repeatWaiting(url, times) {
  const client = new pg.Client(url)
  await client.connect()
  const copied =
    'name, data, retry_limit, retry_delay, retry_backoff, expire_in, keep_until, dead_letter, policy'
  await client.query(
    `INSERT INTO pgboss.job (${copied}, created_on, start_after)
     SELECT ${copied}, created_on + n * interval '1 us', start_after + n * interval '1 us'
     FROM pgboss.job, generate_series(1, $1::integer) AS n WHERE name LIKE 'events.app.%'`,
    [times],
  )
  await client.query('ANALYZE pgboss.job')
  await client.end()
}
