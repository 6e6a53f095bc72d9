/** Writes in PostgreSQL, from the lock to the commit, and their statements. */
import { type AsyncTx, isDomainException, ServiceUnavailableException } from '@fastify-modular/core'
import { serverTimeouts } from '@fastify-modular/core/internal/postgres'
import type { Pool, PoolClient, QueryConfig, QueryResult } from 'pg'
import { FMOD_SETTINGS_TRANSACTION_ENDED } from '../../misuse-errors.ts'
import type { SettingScope } from '../../setting-definition.ts'
import { planWrite, trimmedAtOnce, TrimCounter } from '../plan-write.ts'
import type {
  HistoryRetention,
  ResealRequest,
  RowId,
  StoredRow,
  WriteRequest,
  WriteResult,
} from '../store.ts'
import { orStoreFailure, toStoreFailure, WriteQueue } from './connection.ts'
import type { PostgresNames } from './names.ts'

interface WriterInit {
  readonly pool: Pool
  readonly names: PostgresNames
  /** Milliseconds that one statement may take. */
  readonly statementTimeout: number
}

/** What the writes of one store share. */
interface Setup extends WriterInit {
  readonly statements: WriteStatements
  readonly trims: TrimCounter
}

export interface PostgresWriter {
  write(request: WriteRequest): Promise<WriteResult>
  reseal(request: ResealRequest): Promise<number>
  pruneHistory(retention: HistoryRetention): Promise<number>
}

/** Milliseconds that a write waits for the writes before it. */
const turnLimit = 10_000

/**
 * Each write takes one connection of the pool. Statements that do not need each other's answer are sent together: a
 * round trip costs more than they do.
 */
export function createWriter(init: WriterInit): PostgresWriter {
  const { pool } = init
  const queue = new WriteQueue(turnLimit)
  const setup: Setup = { ...init, statements: writeStatements(init.names), trims: new TrimCounter() }
  return {
    write: (request) => queue.take(() => onConnection(pool, (client) => write(client, setup, request))),
    reseal: (request) => queue.take(() => onConnection(pool, (client) => reseal(client, setup, request))),
    pruneHistory: async ({ perValue, olderThan }) =>
      (await pool.query(setup.statements.pruneHistory, [perValue, olderThan])).rowCount ?? 0,
  }
}

async function write(client: PoolClient, setup: Setup, request: WriteRequest): Promise<WriteResult> {
  const { revision, rows } = await lock(client, setup, request)
  const result = planWrite(request, revision, rows)
  if (result.changes.length === 0) await orStoreFailure(client.query('rollback'))
  else await apply(client, setup, { request, result })
  return result
}

/** Replaces texts under the lock of the writers: one that has read a plain text before would record it in the history. */
async function reseal(client: PoolClient, setup: Setup, request: ResealRequest): Promise<number> {
  const { statements } = setup
  const [, , values, entries, committed] = await orStoreFailure(
    sendTogether(client, [
      { text: statements.begin },
      lockStatement(setup),
      { text: statements.resealValues, values: resealedValues(request.values) },
      { text: statements.resealHistory, values: resealedHistory(request.history) },
      { text: 'commit' },
    ]),
  )
  checkCommitted(committed)
  return (values?.rowCount ?? 0) + (entries?.rowCount ?? 0)
}

async function onConnection<T>(pool: Pool, task: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await orStoreFailure(pool.connect())
  let isClean = true
  // Without a listener a lost connection would end the process. The loss also ends a write whose enqueue() waits for
  // something other than this connection.
  const { lost, onError } = lossOf()
  client.on('error', onError)
  try {
    return await Promise.race([task(client), lost])
  } catch (error) {
    isClean = !isUnanswered(error) && (await rollBack(client))
    throw error
  } finally {
    client.off('error', onError)
    client.release(!isClean)
  }
}

/** A connection that did not answer would not answer a rollback either; the server rolls back when it is closed. */
function isUnanswered(error: unknown): boolean {
  const cause = isDomainException(error) && error.statusCode === 503 ? error.cause : undefined
  return cause instanceof Error && !('severity' in cause) // errors that PostgreSQL answers have a severity
}

function rollBack(client: PoolClient): Promise<boolean> {
  return client.query('rollback').then(
    () => true,
    () => false,
  )
}

function lossOf(): { readonly lost: Promise<never>; readonly onError: (error: unknown) => void } {
  let onError: (error: unknown) => void = () => {}
  const lost = new Promise<never>((_, reject) => (onError = (error) => reject(toStoreFailure(error))))
  return { lost, onError }
}

async function lock(
  client: PoolClient,
  setup: Setup,
  { reads }: WriteRequest,
): Promise<{ readonly revision: number; readonly rows: StoredRow[] }> {
  const { statements, names } = setup
  const [, locked, found] = await orStoreFailure(
    sendTogether(client, [
      { text: statements.begin },
      lockStatement(setup),
      { name: `${names.statements}.find`, text: statements.find, values: columnsOf(reads) },
    ]),
  )
  const [revision] = (locked?.rows ?? []) as { readonly value: string }[]
  const rows = (found?.rows ?? []) as ValueRecord[]
  return { revision: Number(revision?.value ?? 0), rows: rows.map(toRow) }
}

function lockStatement({ statements, names, statementTimeout }: Setup): QueryConfig {
  const timeouts = serverTimeouts(statementTimeout)
  const values = [
    timeouts.lock_timeout,
    timeouts.statement_timeout,
    timeouts.idle_in_transaction_session_timeout,
  ].map(String)
  return { name: `${names.statements}.lock`, text: statements.lock, values }
}

async function apply(
  client: PoolClient,
  { statements, names, trims }: Setup,
  { request, result }: { readonly request: WriteRequest; readonly result: WriteResult },
): Promise<void> {
  const { actor, origin, requestId = null, note = null, keepHistory } = request
  const { changes, revision, at } = result
  const columns = [
    ...columnsOf(changes),
    changes.map(({ before }) => before?.value ?? null),
    changes.map(({ before }) => before?.sealed ?? false),
    changes.map(({ after }) => after?.value ?? null),
    changes.map(({ after }) => after?.sealed ?? false),
  ]
  const trimmed = keepHistory === undefined ? [] : trims.takeDue(result)
  const trimming = [...columnsOf(trimmed), keepHistory ?? 1]
  const values = [revision, at, actor, origin, requestId, note, ...columns, names.channel, ...trimming]
  const applied = { name: `${names.statements}.apply`, text: statements.apply, values }
  const commit = { text: 'commit' }
  if (request.enqueue) {
    await orStoreFailure(client.query(applied))
    await enqueue(client, request, result)
    checkCommitted(await orStoreFailure(client.query(commit)))
    return
  }
  // After a failure PostgreSQL answers a commit with a rollback, so it can be sent along.
  const [, committed] = await orStoreFailure(sendTogether(client, [applied, commit]))
  checkCommitted(committed)
}

/** The names of rows, as the driver sends arrays. */
function columnsOf(ids: readonly RowId[]): unknown[][] {
  return [ids.map(({ scope }) => scope), ids.map(({ userId }) => userId), ids.map(({ key }) => key)]
}

function resealedValues(rows: ResealRequest['values']): unknown[][] {
  return [
    ...columnsOf(rows.map(({ before }) => before)),
    rows.map(({ before }) => before.revision),
    rows.map(({ before }) => before.value),
    rows.map(({ after }) => after.value),
    rows.map(({ after }) => after.sealed),
  ]
}

function resealedHistory(rows: ResealRequest['history']): unknown[][] {
  return [
    ...columnsOf(rows.map(({ before }) => before)),
    rows.map(({ before }) => before.revision),
    rows.map(({ before }) => before.oldValue),
    rows.map(({ before }) => before.newValue),
    rows.map(({ after }) => after.oldValue),
    rows.map(({ after }) => after.oldSealed),
    rows.map(({ after }) => after.newValue),
    rows.map(({ after }) => after.newSealed),
  ]
}

/** The transaction ends when `enqueue` does: a later statement would run outside of it. */
async function enqueue(client: PoolClient, request: WriteRequest, result: WriteResult): Promise<void> {
  let isOpen = true
  const tx: AsyncTx = {
    kind: 'async',
    async query(sql, params) {
      if (!isOpen) throw new FMOD_SETTINGS_TRANSACTION_ENDED()
      const { rows } = await orStoreFailure(client.query(sql, [...params]))
      return { rows }
    },
  }
  try {
    await request.enqueue?.(tx, result)
  } finally {
    isOpen = false
  }
}

/** @throws {ServiceUnavailableException} the commit was a rollback, because of an error that `enqueue` did not pass on */
function checkCommitted(committed: QueryResult | undefined): void {
  if (committed?.command === 'COMMIT') return
  throw new ServiceUnavailableException(
    'PostgreSQL rolled the write of a setting back: a statement of its events failed.',
  )
}

/** A row of settings_value as the driver gives it; bigint arrives as text. */
interface ValueRecord {
  readonly scope: SettingScope
  readonly user_id: string
  readonly key: string
  readonly value: string
  readonly sealed: boolean
  readonly revision: string
  readonly updated_at: string
  readonly updated_by: string | null
}

function toRow(record: ValueRecord): StoredRow {
  return {
    scope: record.scope,
    userId: record.user_id,
    key: record.key,
    value: record.value,
    sealed: record.sealed,
    revision: Number(record.revision),
    updatedAt: Number(record.updated_at),
    updatedBy: record.updated_by,
  }
}

interface WriteStatements {
  /** Sent before all others. */
  readonly begin: string
  /**
   * Takes the lock that makes writers take turns: commit order is revision order. Returns the revision. `$1` to `$3` are
   * the time-outs of the server for a lock, a statement and an idle transaction, in milliseconds.
   */
  readonly lock: string
  /** `$1` to `$3` name rows. Sent after the lock is held: an earlier statement would see rows as they were before it. */
  readonly find: string
  /** Rows, history (with the trimming of the values named last), revision and notification at once. */
  readonly apply: string
  /** `$1` to `$7` are values as they were read, and their new texts. */
  readonly resealValues: string
  /** `$1` to `$10` are rows of history as they were read, and their new texts. */
  readonly resealHistory: string
  readonly pruneHistory: string
}

/** Rows travel as arrays, one for each column: the statements are the same for 1 row and for 500. */
function writeStatements({ values, history, meta }: PostgresNames): WriteStatements {
  return {
    begin: 'begin isolation level read committed',
    // The time-outs end a transaction whose process stopped while it held the lock; the others would wait for ever.
    // They are set before the row is locked, because rows are locked last, and prepared: three statements less to parse.
    lock: `
      with timeouts as materialized (
        select set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true),
          set_config('idle_in_transaction_session_timeout', $3, true)
      )
      select meta.value from ${meta} as meta, timeouts where meta.name = 'revision' for update of meta`,
    // A lateral look-up per row: a join would be planned as a scan of the table whatever the number of rows asked for.
    find: `
      select v.* from unnest($1::smallint[], $2::text[], $3::text[]) as id (scope, user_id, key)
      cross join lateral (
        select * from ${values} v
        where (v.scope, v.user_id, v.key) = (id.scope, id.user_id, id.key) limit 1
      ) as v`,
    apply: `
      with change as materialized (
        select * from unnest($7::smallint[], $8::text[], $9::text[], $10::text[], $11::boolean[], $12::text[], $13::boolean[])
          as row (scope, user_id, key, old_value, old_sealed, new_value, new_sealed)
      ), saved as (
        insert into ${values} (scope, user_id, key, value, sealed, revision, updated_at, updated_by)
        select scope, user_id, key, new_value, new_sealed, $1::bigint, $2::bigint, $3::text
        from change where new_value is not null
        on conflict (scope, user_id, key) do update set value = excluded.value, sealed = excluded.sealed,
          revision = excluded.revision, updated_at = excluded.updated_at, updated_by = excluded.updated_by
      ), deleted as (
        delete from ${values} v using change c
        where c.new_value is null and (v.scope, v.user_id, v.key) = (c.scope, c.user_id, c.key)
      ), noted as (
        insert into ${history} (revision, scope, user_id, key, old_value, old_sealed, new_value, new_sealed,
          origin, actor, request_id, note, at)
        select $1::bigint, scope, user_id, key, old_value, old_sealed, new_value, new_sealed,
          $4::text, $3::text, $5::text, $6::text, $2::bigint
        from change
      ), trimmed as (
        delete from ${history} h using unnest($15::smallint[], $16::text[], $17::text[]) as due (scope, user_id, key)
        cross join lateral (
          select o.revision from ${history} o
          where (o.key, o.scope, o.user_id) = (due.key, due.scope, due.user_id)
          order by o.revision desc limit ${trimmedAtOnce} offset $18::int - 1 -- the entry of this write is not seen here
        ) as old
        where (h.revision, h.scope, h.user_id, h.key) = (old.revision, due.scope, due.user_id, due.key)
      ), counted as (
        update ${meta} set value = ($1::bigint)::text where name = 'revision'
      )
      select pg_notify($14::text, ($1::bigint)::text)`,
    resealValues: `
      update ${values} v set value = r.new_value, sealed = r.sealed
      from unnest($1::smallint[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::boolean[])
        as r (scope, user_id, key, revision, value, new_value, sealed)
      where (v.scope, v.user_id, v.key) = (r.scope, r.user_id, r.key)
        and v.revision = r.revision and v.value = r.value`,
    resealHistory: `
      update ${history} h set old_value = r.old_value, old_sealed = r.old_sealed,
        new_value = r.new_value, new_sealed = r.new_sealed
      from unnest($1::smallint[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[],
        $7::text[], $8::boolean[], $9::text[], $10::boolean[])
        as r (scope, user_id, key, revision, found_old, found_new, old_value, old_sealed, new_value, new_sealed)
      where (h.revision, h.scope, h.user_id, h.key) = (r.revision, r.scope, r.user_id, r.key)
        and h.old_value is not distinct from r.found_old and h.new_value is not distinct from r.found_new`,
    pruneHistory: `
      delete from ${history} where (revision, scope, user_id, key) in (
        select revision, scope, user_id, key from (
          select revision, scope, user_id, key, at,
            row_number() over (partition by scope, user_id, key order by revision desc) as place
          from ${history}) as newest_first
        where place > 1 and (place > $1::bigint or at < $2::bigint))`,
  }
}

/** Runs the statements in their order; where the driver pipelines, without waiting for the answers in between. */
export async function sendTogether(
  client: PoolClient,
  statements: readonly QueryConfig[],
): Promise<readonly QueryResult[]> {
  if (client.pipeline) return Promise.all(sendAtOnce(client, statements))
  const results: QueryResult[] = []
  for (const statement of statements) results.push(await client.query(statement))
  return results
}

/** As one packet, which wakes the server once: 4.0 ms a write where the disk does not count, 4.3 ms in several packets. */
function sendAtOnce(client: PoolClient, statements: readonly QueryConfig[]): Promise<QueryResult>[] {
  const { stream } = client.connection
  stream.cork()
  try {
    return statements.map((statement) => client.query(statement))
  } finally {
    stream.uncork()
  }
}
