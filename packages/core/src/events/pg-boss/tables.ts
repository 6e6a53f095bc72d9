/** What the transport adds to pg-boss's tables: a table of the instances, and an index of the jobs that run. */
import type { FastifyBaseLogger } from 'fastify'
import { logFailure } from '../../internal/failures.ts'
import type { PgPool } from './database.ts'

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
