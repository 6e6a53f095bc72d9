// Durable transports with events that wait.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineEvent, events } from '@fastify-modular/core'
import { pgBoss } from '@fastify-modular/core/events/pg-boss'
import { sqliteOutbox } from '@fastify-modular/core/events/sqlite-outbox'
import { createDatabase } from '@fastify-modular/test-support/postgres'
import { Type } from '@sinclair/typebox'
import Database from 'better-sqlite3'
import Fastify from 'fastify'
import pg from 'pg'
import { inRounds, median, report, size } from './measure.mjs'

class Ticked extends defineEvent('bench.ticked', Type.Object({ number: Type.Integer() })) {}

/** Rates with 1,000, 30,000 and 100,000 waiting events. */
export async function measureWaiting(serverUrl) {
  await backlog('Events that wait in SQLite', sqliteRateOf)
  await backlog('Events that wait in pg-boss', (waiting) => rateOf(serverUrl, waiting))
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

/** The same in SQLite, each commit on the disk. */
async function sqliteRateOf(waiting) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const database = new Database(join(folder, 'bench.db'))
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  const rate = await rateOfFirst(sqliteOutbox({ database }), () =>
    database.exec(`
      WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${waiting - 1})
      INSERT INTO event_outbox (event_id, type, payload, published_at)
      SELECT event_id || n, type, payload, published_at FROM event_outbox, n;
      INSERT INTO event_delivery (event, handler, due_at)
      SELECT o.id, handler, due_at FROM event_outbox o, event_delivery WHERE o.id <> event`),
  )
  database.close()
  rmSync(folder, { recursive: true })
  return rate
}

/** Publishes one event, has it repeated, and measures how fast the first thousand are handled. */
async function rateOfFirst(transport, repeat) {
  const sample = 1000
  let handled = 0
  let startedAt = 0
  let done = () => {}
  const finished = new Promise((resolve) => (done = resolve))
  class BenchHandler {
    static event = Ticked
    handle() {
      if (handled++ === 0) startedAt = performance.now()
      if (handled === sample) done(performance.now())
    }
  }
  const app = Fastify()
  await app.register(events, { transport, handlers: [BenchHandler] })
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
