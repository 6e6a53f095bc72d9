/** Durable events on real processes that are killed and a real PostgreSQL server that is restarted (design: at least once). */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import pg from 'pg'
import { test, type Test } from 'tap'
import { startPostgres } from '@fastify-modular/test-support/postgres'
import { type SpawnedProcess, spawnNode } from '@fastify-modular/test-support/spawn-app'
import type { WorkerConfig } from './fixtures/worker.js'

interface Storage {
  readonly config: Pick<WorkerConfig, 'sqlite' | 'postgres'>
  count(sql: string): Promise<number>
}

/** Raise it for a longer run: `EVENT_CRASH_TEST_EVENTS=100000`. */
const events = Number(process.env['EVENT_CRASH_TEST_EVENTS'] ?? 3000)

function spawnWorker(
  t: Test,
  storage: Storage,
  config: Omit<WorkerConfig, 'sqlite' | 'postgres'>,
): SpawnedProcess {
  const args = [JSON.stringify({ ...storage.config, ...config } satisfies WorkerConfig)]
  const worker = spawnNode(new URL('./fixtures/worker.js', import.meta.url), { args, timeout: 60_000 })
  t.teardown(() => worker.stop('SIGKILL'))
  return worker
}

function sqliteStorage(t: Test): Storage {
  const folder = mkdtempSync(join(tmpdir(), 'crashes-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'app.db')
  return {
    config: { sqlite: file },
    async count(sql) {
      const database = new Database(file, { timeout: 10_000 })
      try {
        return (database.prepare(sql).get() as { n: number }).n
      } finally {
        database.close()
      }
    },
  }
}

async function postgresStorage(url: string): Promise<Storage> {
  const query = async (sql: string) => {
    const client = new pg.Client(url)
    client.on('error', () => {})
    await client.connect()
    try {
      return await client.query<{ n: string }>(sql)
    } finally {
      await client.end()
    }
  }
  await query(
    'CREATE TABLE handled (number INTEGER, event_id TEXT, pid INTEGER); CREATE TABLE published (number INTEGER)',
  )
  return { config: { postgres: url }, count: async (sql) => Number((await query(sql)).rows[0]?.n) }
}

/** Waits until a number of the storage is reached, at most 60 seconds; a database that is down is asked again. */
async function until(storage: Storage, sql: string, wanted: number): Promise<void> {
  const end = Date.now() + 60_000
  let last: unknown
  while (Date.now() < end) {
    last = await storage.count(sql).catch((error: unknown) => error)
    if (typeof last === 'number' && last >= wanted) return
    await delay(20)
  }
  throw new Error(`${sql} stayed at ${String(last)}, wanted ${wanted}`)
}

const handled = 'SELECT count(DISTINCT number) AS n FROM handled'
const published = 'SELECT count(*) AS n FROM published'
const lost =
  'SELECT count(*) AS n FROM published p WHERE NOT EXISTS (SELECT 1 FROM handled h WHERE h.number = p.number)'
const invented =
  'SELECT count(*) AS n FROM handled h WHERE NOT EXISTS (SELECT 1 FROM published p WHERE h.number = p.number)'

async function publisherKilledBeforeDelivery(t: Test, storage: Storage): Promise<void> {
  // A first life makes the handler known; the publisher itself has none, so nothing is delivered before it dies.
  const first = spawnWorker(t, storage, { mode: 'handle' })
  await first.printed(/ready/)
  await first.stop()
  const publisher = spawnWorker(t, storage, {
    mode: 'publish-only',
    publish: { from: 0, to: 20, perTransaction: 5 },
  })
  await publisher.printed(/published 20/)
  await publisher.stop('SIGKILL')
  t.equal(await storage.count(handled), 0)
  spawnWorker(t, storage, { mode: 'handle' })
  await until(storage, handled, 20)
  t.equal(await storage.count(lost), 0)
}

async function consumerKilledInTheMiddle(t: Test, storage: Storage): Promise<void> {
  const hanging = spawnWorker(t, storage, { mode: 'hang', publish: { from: 0, to: 3, perTransaction: 3 } })
  await hanging.printed(/hangs on [\s\S]*hangs on [\s\S]*hangs on /)
  const killedAt = Date.now()
  await hanging.stop('SIGKILL')
  t.equal(await storage.count(handled), 0)
  spawnWorker(t, storage, { mode: 'handle' })
  await until(storage, handled, 3)
  t.comment(`redelivered ${Date.now() - killedAt} ms after the kill`)
}

async function sixInstancesBootAtOnce(t: Test, storage: Storage): Promise<void> {
  const workers = Array.from({ length: 6 }, () => spawnWorker(t, storage, { mode: 'handle' }))
  await Promise.all(workers.map((worker) => worker.printed(/ready/)))
  const exits = await Promise.all(workers.map((worker) => worker.stop()))
  t.same(
    exits.map(({ code }) => code),
    [0, 0, 0, 0, 0, 0],
  )
}

async function oneOfTwoInstancesHandlesEach(t: Test, storage: Storage): Promise<void> {
  const one = spawnWorker(t, storage, { mode: 'handle' })
  const two = spawnWorker(t, storage, { mode: 'handle' })
  await Promise.all([one.printed(/ready/), two.printed(/ready/)])
  spawnWorker(t, storage, { mode: 'publish-only', publish: { from: 0, to: 300, perTransaction: 10 } })
  await until(storage, handled, 300)
  await Promise.all([one.stop(), two.stop()])
  t.equal(await storage.count('SELECT count(*) AS n FROM handled'), 300, 'no event was handled twice')
}

async function randomKills(t: Test, storage: Storage): Promise<void> {
  const startedAt = Date.now()
  let workers = [0, 1].map(() => spawnWorker(t, storage, { mode: 'handle' }))
  await workers[0]?.printed(/ready/)
  let from = 0
  let kills = 0
  let publisher = spawnWorker(t, storage, {
    mode: 'publish-only',
    publish: { from, to: events, perTransaction: 100 },
  })
  while ((await storage.count(published)) < events) {
    await delay(150 + Math.random() * 300)
    const victim = Math.floor(Math.random() * 3)
    const dying = victim === 2 ? publisher : workers[victim]
    await dying?.stop('SIGKILL')
    kills++
    if (victim === 2) {
      // The next publisher goes on after what was committed: nobody may publish a number twice.
      from = await storage.count('SELECT coalesce(max(number) + 1, 0) AS n FROM published')
      publisher = spawnWorker(t, storage, {
        mode: 'publish-only',
        publish: { from, to: events, perTransaction: 100 },
      })
    } else {
      workers = workers.with(victim, spawnWorker(t, storage, { mode: 'handle' }))
    }
    // A process that dies before it is up does nothing: give the new one the time to begin.
    await (victim === 2 ? publisher : workers[victim])?.printed(/ready/)
  }
  await until(storage, handled, events)
  t.equal(await storage.count(lost), 0, 'no published event was lost')
  t.equal(await storage.count(invented), 0, 'no event was handled that was not published')
  const repeated = (await storage.count('SELECT count(*) AS n FROM handled')) - events
  t.comment(`${events} events, ${kills} kills, ${repeated} repeated deliveries, ${Date.now() - startedAt} ms`)
}

const cases = {
  sixInstancesBootAtOnce,
  publisherKilledBeforeDelivery,
  consumerKilledInTheMiddle,
  oneOfTwoInstancesHandlesEach,
  randomKills,
}

test('SQLite outbox', async (t) => {
  for (const [name, run] of Object.entries(cases)) await t.test(name, (sub) => run(sub, sqliteStorage(sub)))
})

test('pg-boss', async (t) => {
  const server = await startPostgres()
  t.teardown(() => server.stop())
  for (const [name, run] of Object.entries(cases)) {
    await t.test(name, async (sub) => run(sub, await postgresStorage((await server.createDatabase()).url)))
  }

  await t.test('the server is killed and restarted while events flow', async (sub) => {
    const storage = await postgresStorage((await server.createDatabase()).url)
    const worker = spawnWorker(sub, storage, { mode: 'handle' })
    await worker.printed(/ready/)
    const publisher = spawnWorker(sub, storage, {
      mode: 'publish-only',
      publish: { from: 0, to: 1_000_000, perTransaction: 10 },
    })
    await until(storage, handled, 50)
    await server.kill()
    await publisher.exited // it dies of the failed commit: what it published last is unknown to it, not to the database
    await server.restart()
    await until(storage, handled, await storage.count(published))
    sub.equal(await storage.count(lost), 0)
    sub.equal(await storage.count(invented), 0)
    sub.notMatch(worker.log(), /UnhandledPromiseRejection|uncaught/i, 'the worker lived through it')
    sub.equal((await worker.stop()).code, 0)
  })
})
