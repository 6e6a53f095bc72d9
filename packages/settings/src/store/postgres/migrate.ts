/** Brings the tables in PostgreSQL up to date. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import { errorCodes } from '../../misuse-errors.ts'
import { effectiveMode, isOutdated, type MigrateMode } from '../options.ts'
import { migrations, migrationsFrom, startCounting } from '../schema.ts'
import { toStoreFailure } from './connection.ts'
import type { PostgresNames } from './names.ts'
import { schemaOf } from './print-sql.ts'

/** Milliseconds that a process waits for another one that migrates: less than the 10 s that Fastify gives a plugin. */
const lockTimeout = 7000

/**
 * Runs the missing migrations in one transaction under an advisory lock, which makes processes that start together take
 * turns; a failure leaves it open. Where nothing is missing it only reads, so a role that may not create tables can start.
 * @throws {FMOD_SETTINGS_SCHEMA_OUTDATED | FMOD_SETTINGS_SCHEMA_TOO_NEW}
 * @throws {FMOD_SETTINGS_MIGRATION_FAILED} nothing has changed
 */
export async function migrate(client: ClientBase, names: PostgresNames, wanted: MigrateMode): Promise<void> {
  const mode = effectiveMode(wanted)
  if (mode === 'nothing') return
  if (mode === false) return void (await client.query(startCounting(schemaOf(names))))
  const state = { store: 'postgres', mode, known: migrations.length } as const
  if (!isOutdated({ ...state, found: await readVersion(client, names) })) return
  await client.query('begin isolation level read committed')
  await takeTurn(client, `fastify-modular ${names.channel}`)
  const found = await readVersion(client, names) // another process may have been faster
  if (isOutdated({ ...state, found })) await runFrom(client, names, found)
  await client.query('commit')
}

/** Tries repeatedly: the time-outs of the database, and of the driver, are for statements shorter than a migration. */
async function takeTurn(client: ClientBase, lock: string): Promise<void> {
  const sql = 'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as taken'
  for (const end = Date.now() + lockTimeout; ; await sleep(50 + 100 * Math.random())) {
    const { rows } = await client.query<{ taken: boolean }>(sql, [lock])
    if (rows[0]?.taken === true) return
    if (Date.now() > end) {
      throw new Error(
        `another process has held the lock of the migrations "${lock}" for ${lockTimeout} ms; start again when it has ended`,
      )
    }
  }
}

async function runFrom(client: ClientBase, names: PostgresNames, found: number): Promise<void> {
  try {
    if (names.schema !== undefined) await createSchema(client, names.schema)
    for (const statements of migrationsFrom(found, schemaOf(names))) await client.query(statements)
  } catch (error) {
    const cause = toStoreFailure(error)
    const reason = (cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, '')
    throw Object.assign(new errorCodes.FMOD_SETTINGS_MIGRATION_FAILED(reason), { cause })
  }
}

/** `if not exists` needs the right to create schemas even when there is nothing to create. */
async function createSchema(client: ClientBase, schema: string): Promise<void> {
  const { rowCount } = await client.query('select 1 from pg_namespace where nspname = $1', [schema])
  if (rowCount === 0) await client.query(`create schema "${schema}"`)
}

async function readVersion(client: ClientBase, names: PostgresNames): Promise<number> {
  // Not to_regclass(): inside a transaction that waited for the lock it may answer from an outdated cache.
  const table = await client.query(
    `select 1 from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     where c.relname = $1
       and n.nspname = any(case when $2::name is null then current_schemas(false) else array[$2::name] end)`,
    [`${names.prefix}settings_meta`, names.schema ?? null],
  )
  if (table.rowCount === 0) return 0
  const version = await client.query<{ value: string }>(
    `select value from ${names.meta} where name = 'schema'`,
  )
  return Number(version.rows[0]?.value ?? 0)
}
