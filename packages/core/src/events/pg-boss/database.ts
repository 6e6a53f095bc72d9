/**
 * The database of the queue: the parts of pg and pg-boss that it uses, by structure, so that their types need not be
 * installed; the lock of a boot, and what is added to the tables of pg-boss.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { logFailure } from '../../internal/failures.ts'
import type { ListeningConnection } from '../../internal/listener.ts'
import type { BoundedConnections } from '../../internal/postgres.ts'
import { errorCodes } from '../../misuse-errors.ts'

/** One connection of a pg pool. */
export interface PgConnection extends ListeningConnection {
  query(sql: string, params?: unknown[]): Promise<{ rows: unknown[] }>
  release(reason?: Error | boolean): void
}

/** A pg pool. */
export interface PgPool {
  connect(): Promise<PgConnection>
  query(sql: string, params?: unknown[]): Promise<{ rows: unknown[] }>
  on(event: 'error', listener: (error: Error) => void): unknown
  end(): Promise<void>
}

/** What is used of a pg-boss instance: it makes and migrates its tables, and its queues. */
export interface Boss {
  on(event: 'error', listener: (error: unknown) => void): unknown
  start(): Promise<unknown>
  stop(options: { graceful: boolean; wait: boolean; close: boolean }): Promise<void>
  createQueue(name: string): Promise<unknown>
}

/** Makes a pg-boss instance that does nothing by itself. @throws {FMOD_CORE_PEER_MISSING} version 10 is not installed */
export async function createBoss(pool: PgPool, schema: string): Promise<Boss> {
  // Later versions have tables of another shape, and no default export.
  const { default: PgBoss } = await loadPeer('pg-boss@10', async () => {
    const module: { default?: unknown } = await import('pg-boss')
    if (typeof module.default !== 'function') throw new TypeError('The installed pg-boss is not version 10.')
    return module as { default: new (options: object) => Boss }
  })
  const db = { executeSql: (sql: string, params?: unknown[]) => pool.query(sql, params) }
  return new PgBoss({ schema, schedule: false, supervise: false, db })
}

/** Opens a pool with time-outs. @throws {FMOD_CORE_PEER_MISSING} pg is not installed */
export async function createPool(connectionString: string, connections: BoundedConnections): Promise<PgPool> {
  const { default: pg } = await loadPeer('pg', () => import('pg'))
  return new pg.Pool({ connectionString, max: 5, ...connections.poolConfig })
}

/** Imports an optional peer. @throws {FMOD_CORE_PEER_MISSING} the import fails */
export async function loadPeer<T>(peer: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    throw Object.assign(new errorCodes.FMOD_CORE_PEER_MISSING(peer), { cause })
  }
}

/** Milliseconds that an instance waits for others that boot at the same time. */
const longestBoot = 60_000

/** Runs while no other instance runs work of the same name. Takes one connection of the pool besides those `run` uses, so that it never ends with a pool of one. */
export async function exclusively(pool: PgPool, name: string, run: () => Promise<void>): Promise<void> {
  const connection = await pool.connect()
  // A lost connection rejects its statements; without a listener, its event would end the process besides.
  connection.on('error', () => {})
  try {
    // A transaction that only holds the lock: it waits while `run` works on other connections. It does not wait for the
    // lock in the database, whose time-outs are for statements that are shorter than a boot.
    await connection.query('BEGIN')
    await connection.query('SET LOCAL idle_in_transaction_session_timeout = 0')
    for (const end = Date.now() + longestBoot; ; await delay(50 + 100 * Math.random())) {
      const { rows } = await connection.query(
        'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS is_taken',
        [name],
      )
      if ((rows as { is_taken: boolean }[])[0]?.is_taken === true) break
      if (Date.now() > end) throw new Error(`Another instance holds the lock "${name}" and does not end.`)
    }
    await run()
    await connection.query('COMMIT')
  } finally {
    connection.release(true) // one that may be in any state does not go back to the pool
  }
}

/** Nothing in it outlives its instance: no need to write it to the log of the database. */
const workerTable = (schema: string) =>
  `CREATE UNLOGGED TABLE ${schema}.fmod_worker (instance text PRIMARY KEY, queues text[] NOT NULL, seen timestamptz NOT NULL)`

/** Leases are looked at every few seconds: without the index by a scan of all jobs. */
const activeIndex = (schema: string) =>
  `CREATE INDEX IF NOT EXISTS fmod_job_active ON ${schema}.job (name, started_on) WHERE state = 'active'`

/**
 * Makes both where they are missing. A role that does not own pg-boss's tables cannot make the index: the log says so
 * once, with the statement for one who can.
 */
export async function addTables(pool: PgPool, schema: string, log: FastifyBaseLogger): Promise<void> {
  const { rows } = await pool.query('SELECT to_regclass($1) AS worker, to_regclass($2) AS index', [
    `${schema}.fmod_worker`,
    `${schema}.fmod_job_active`,
  ])
  const [found] = rows as { worker: unknown; index: unknown }[]
  if (found?.worker == null) await pool.query(workerTable(schema))
  // Instances that were killed long ago.
  await pool.query(`DELETE FROM ${schema}.fmod_worker WHERE seen < now() - interval '1 hour'`)
  if (found?.index != null) return
  try {
    await pool.query(activeIndex(schema))
  } catch (err) {
    const record = { err, sql: activeIndex(schema) }
    logFailure(
      log,
      'warn',
      record,
      'an index of the event queue could not be made; run the statement as its owner',
    )
  }
}

/** @throws {FMOD_CORE_QUEUE_MISSING} a table that the first start makes is not there */
export async function requireTables(pool: PgPool, schema: string): Promise<void> {
  const { rows } = await pool.query('SELECT to_regclass($1) AS worker', [`${schema}.fmod_worker`])
  const [found] = rows as { worker: unknown }[]
  if (found?.worker == null) throw new errorCodes.FMOD_CORE_QUEUE_MISSING('pgBoss')
}
