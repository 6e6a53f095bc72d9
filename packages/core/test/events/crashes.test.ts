/** At-least-once delivery by real processes that are killed, on a real PostgreSQL server that is restarted. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import pg from 'pg'
import { t, type Test } from 'tap'
import { startPostgres, testDatabase } from '@fastify-modular/test-support/postgres'
import { type SpawnedProcess, spawnNode } from '@fastify-modular/test-support/spawn-app'
import type { WorkerConfig } from './fixtures/worker.js'

interface Storage {
  readonly config: Pick<WorkerConfig, 'sqlite' | 'postgres'>
  /** Counts the deliveries that wait and have failed before. */
  readonly failed: string
  count(sql: string): Promise<number>
}

/** About as many are published in one case. Raise it for a longer run: `EVENT_CRASH_TEST_EVENTS=100000`. */
const events = Number(process.env['EVENT_CRASH_TEST_EVENTS'] ?? 3000)

/** How often a process is killed whose lease is the usual one; says how long its events wait: `EVENT_TAKEOVERS=10`. */
const takeovers = Number(process.env['EVENT_TAKEOVERS'] ?? 0)

function spawnWorker(
  t: Test,
  storage: Storage,
  config: Omit<WorkerConfig, 'sqlite' | 'postgres'>,
): SpawnedProcess {
  const args = [JSON.stringify({ ...storage.config, ...config } satisfies WorkerConfig)]
  const worker = spawnNode(new URL('./fixtures/worker.js', import.meta.url), { args })
  t.teardown(() => worker.stop('SIGKILL'))
  return worker
}

function sqliteStorage(t: Test): Storage {
  const folder = mkdtempSync(join(tmpdir(), 'crashes-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'app.db')
  const database = new Database(file)
  database.pragma('journal_mode = WAL') // processes that do so at once with a new file do not wait for each other
  database.close()
  return {
    config: { sqlite: file },
    failed: 'SELECT count(*) AS n FROM event_delivery WHERE attempts > 0',
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

async function postgresStorage(t: Test, url: string): Promise<Storage> {
  const pool = new pg.Pool({ connectionString: url, max: 1 }) // connects anew after the server was killed
  pool.on('error', () => {})
  t.teardown(() => pool.end())
  const query = (sql: string) => pool.query<{ n: string }>(sql)
  await query(
    'CREATE TABLE handled (number INTEGER, event_id TEXT, pid INTEGER); CREATE TABLE published (number INTEGER)',
  )
  const failed = 'SELECT count(*) AS n FROM pgboss.job WHERE retry_count > 0'
  return { config: { postgres: url }, failed, count: async (sql) => Number((await query(sql)).rows[0]?.n) }
}

/** Waits until a query of the storage reaches a number, at most 60 seconds after it last rose; it is repeated while the database is down. */
async function until(storage: Storage, sql: string, wanted: number): Promise<void> {
  let end = Date.now() + 60_000
  let last: unknown
  while (Date.now() < end) {
    const before = last
    last = await storage.count(sql).catch((error: unknown) => error)
    if (typeof last === 'number' && last >= wanted) return
    if (last !== before && typeof last === 'number') end = Date.now() + 60_000
    await delay(100)
  }
  throw new Error(`${sql} stayed at ${String(last)}, wanted ${wanted}`)
}

const handled = 'SELECT count(DISTINCT number) AS n FROM handled'
/** A transaction that commits after its publisher was killed may be repeated by the next one. */
const published = 'SELECT count(DISTINCT number) AS n FROM published'
const lost =
  'SELECT count(*) AS n FROM published p WHERE NOT EXISTS (SELECT 1 FROM handled h WHERE h.number = p.number)'
const invented =
  'SELECT count(*) AS n FROM handled h WHERE NOT EXISTS (SELECT 1 FROM published p WHERE h.number = p.number)'

async function publisherKilledBeforeDelivery(t: Test, storage: Storage): Promise<void> {
  const publisher = spawnWorker(t, storage, {
    mode: 'publish-unready',
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

/** Another process runs already; the kill comes at any moment between two renewals. */
async function takenOver(t: Test, storage: Storage): Promise<void> {
  const times: number[] = []
  for (let number = 0; number < takeovers; number++) {
    const publish = { from: number, to: number + 1, perTransaction: 1 }
    const hanging = spawnWorker(t, storage, { mode: 'hang', isUsual: true, publish })
    await hanging.printed(/hangs on /)
    const other = spawnWorker(t, storage, { mode: 'handle', isUsual: true })
    await other.printed(/ready/)
    await delay(Math.random() * 4000)
    const killedAt = Date.now()
    await hanging.stop('SIGKILL')
    await until(storage, handled, number + 1)
    times.push(Date.now() - killedAt)
    await other.stop()
  }
  t.comment(`taken over after ${times.toSorted((a, b) => a - b).join(', ')} ms`)
}

async function consumersKilledAgainAndAgain(t: Test, storage: Storage): Promise<void> {
  const config = { mode: 'hang', maxAttempts: 2 } as const
  for (let kills = 0; kills < 3; kills++) {
    const publish = { from: 0, to: kills === 0 ? 1 : 0, perTransaction: 1 }
    const hanging = spawnWorker(t, storage, { ...config, publish })
    await hanging.printed(/hangs on 0/)
    await hanging.stop('SIGKILL')
  }
  spawnWorker(t, storage, { ...config, mode: 'handle' })
  await until(storage, handled, 1)
}

async function consumerTerminated(t: Test, storage: Storage): Promise<void> {
  const lease = 3_600_000 // nothing expires
  const publish = { from: 0, to: 3, perTransaction: 3 }
  const hanging = spawnWorker(t, storage, { mode: 'hang', lease, publish })
  await hanging.printed(/hangs on [\s\S]*hangs on [\s\S]*hangs on /)
  await spawnWorker(t, storage, { mode: 'handle', lease }).printed(/ready/)
  t.equal((await hanging.stop('SIGTERM')).code, 0)
  await until(storage, handled, 3)
}

/** More events wait than one process handles before its end, and the process is terminated while it handles them. */
async function terminatedUnderLoad(t: Test, storage: Storage): Promise<void> {
  const lease = 3_600_000 // nothing expires
  const publish = { from: 0, to: events, perTransaction: 500 }
  const publisher = spawnWorker(t, storage, { mode: 'publish-unready', lease, publish })
  // A busy machine may take long for all, but not for each transaction.
  for (let sent = publish.perTransaction; sent <= publish.to; sent += publish.perTransaction)
    await publisher.printed(new RegExp(`published ${sent}\n`))
  await publisher.stop('SIGKILL')
  const worker = spawnWorker(t, storage, { mode: 'handle', lease, endsAfter: 200 })
  t.equal((await worker.exited).code, 0)
  t.notMatch(worker.log(), /closed module/)
  t.equal(await storage.count(storage.failed), 0, 'no attempt is counted')
  const before = await storage.count(handled)
  t.ok(before < publish.to, `${before} were handled before the end`)
  const next = spawnWorker(t, storage, { mode: 'handle', lease })
  await until(storage, handled, publish.to)
  t.equal(await storage.count('SELECT count(*) AS n FROM handled'), publish.to, 'no event was handled twice')
  t.notMatch(next.log(), /closed module/)
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
  // A busy machine may stop a process for longer than a short lease: what it holds would be delivered again, rightly.
  const lease = 60_000
  const one = spawnWorker(t, storage, { mode: 'handle', lease })
  const two = spawnWorker(t, storage, {
    mode: 'handle',
    lease,
    publish: { from: 0, to: 300, perTransaction: 10, onSignal: true },
  })
  await Promise.all([one.printed(/ready/), two.printed(/ready/)])
  process.kill(two.pid, 'SIGUSR2')
  await until(storage, handled, 300)
  await Promise.all([one.stop(), two.stop()])
  t.equal(await storage.count('SELECT count(*) AS n FROM handled'), 300, 'no event was handled twice')
}

/** Kills two of three processes at a time, a publisher and two that handle, until each was killed twice. */
async function killedAgainAndAgain(t: Test, storage: Storage): Promise<void> {
  const startedAt = Date.now()
  let end = 0
  const start = {
    one: async () => spawnWorker(t, storage, { mode: 'handle' }),
    two: async () => spawnWorker(t, storage, { mode: 'handle' }),
    async publisher() {
      // Goes on after what was committed.
      const from = await storage.count('SELECT coalesce(max(number) + 1, 0) AS n FROM published')
      end = from + Math.ceil(events / 3)
      return spawnWorker(t, storage, {
        mode: 'publish-only',
        publish: { from, to: end, perTransaction: 50 },
      })
    },
  }
  const running = { one: await start.one(), two: await start.two() } as Record<
    keyof typeof start,
    SpawnedProcess
  >
  await running.one.printed(/ready/) // from now on its handler is subscribed
  running.publisher = await start.publisher()
  await running.publisher.printed(/ready/)
  const rounds = [
    ['one', 'publisher'],
    ['two', 'publisher'],
    ['one', 'two'],
  ] as const
  for (const victims of rounds) {
    await delay(150 + Math.random() * 300)
    await Promise.all(victims.map((victim) => running[victim].stop('SIGKILL')))
    for (const victim of victims) running[victim] = await start[victim]()
    // A process that dies before it is ready does nothing.
    await Promise.all(victims.map((victim) => running[victim].printed(/ready/)))
  }
  await running.publisher.printed(new RegExp(`published ${end}\n`))
  const total = await storage.count(published)
  await until(storage, handled, total)
  t.equal(await storage.count(lost), 0, 'no published event was lost')
  t.equal(await storage.count(invented), 0, 'no event was handled that was not published')
  const repeated = (await storage.count('SELECT count(*) AS n FROM handled')) - total
  t.comment(`${total} events, ${repeated} repeated deliveries, ${Date.now() - startedAt} ms`)
}

const cases: Readonly<Record<string, (t: Test, storage: Storage) => Promise<void>>> = {
  'six instances that boot at once all get ready': sixInstancesBootAtOnce,
  'events of a publisher that is killed before it delivers them are delivered': publisherKilledBeforeDelivery,
  'events of a consumer that is killed in the middle are delivered again': consumerKilledInTheMiddle,
  ...(takeovers > 0 && { 'what a killed process held is taken over by another one': takenOver }),
  'a handler that never failed gets its event, however often processes were killed':
    consumersKilledAgainAndAgain,
  'events of a consumer that is terminated are handed to another one at once': consumerTerminated,
  'a process that is terminated with a backlog counts no attempt, and the next one handles the rest':
    terminatedUnderLoad,
  'each event is handled by one of two instances': oneOfTwoInstancesHandlesEach,
  'no event is lost while publisher and consumers are killed': killedAgainAndAgain,
}

// Cases have databases of their own, and mostly wait for processes to start and for leases to end.
t.jobs = 4

for (const [rule, run] of Object.entries(cases)) {
  void t.test(`SQLite outbox: ${rule}`, { buffered: true }, async (sub) => run(sub, sqliteStorage(sub)))
}

for (const [rule, run] of Object.entries(cases)) {
  void t.test(`pg-boss: ${rule}`, { buffered: true }, async (sub) => {
    const { url } = await testDatabase(sub)
    await run(sub, await postgresStorage(sub, url))
  })
}

void t.test(
  'pg-boss: the server is killed and restarted while events flow',
  { buffered: true },
  async (sub) => {
    const server = await startPostgres()
    sub.teardown(() => server.stop())
    const storage = await postgresStorage(sub, (await server.createDatabase()).url)
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
  },
)
