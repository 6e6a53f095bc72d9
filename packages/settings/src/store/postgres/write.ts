/** One write in PostgreSQL, from the lock to the commit. */
import { type AsyncTx, isDomainException, ServiceUnavailableException } from '@fastify-modular/core'
import { serverTimeouts } from '@fastify-modular/core/internal/postgres'
import type { Pool, PoolClient, QueryConfig, QueryResult } from 'pg'
import type { SettingScope } from '../../setting-definition.ts'
import { FMOD_SETTINGS_TRANSACTION_ENDED } from '../../misuse-errors.ts'
import { planWrite } from '../plan-write.ts'
import type { ResealRequest, RowId, StoredRow, WriteRequest, WriteResult } from '../store.ts'
import type { TrimTurns } from '../trim-turns.ts'
import { sendTogether } from './packets.ts'
import { orStoreFailure, toStoreFailure } from './failure.ts'
import type { PostgresNames } from './names.ts'
import type { PostgresWrites } from './write-statements.ts'

/** What the writes of one store have in common. */
export interface WriteSetup {
  readonly statements: PostgresWrites
  /** Milliseconds that one statement may take. */
  readonly patience: number
  readonly names: Pick<PostgresNames, 'channel' | 'statements'>
  readonly turns: TrimTurns
}

/**
 * Writes through one connection of the pool. Statements that do not need each other's answer are sent together: a round
 * trip costs more than they do.
 */
export function writeThrough(pool: Pool, setup: WriteSetup, request: WriteRequest): Promise<WriteResult> {
  return onConnection(pool, (client) => writeOn(client, setup, request))
}

/** Replaces texts under the lock of the writers: one that has read a plain text before would note it in the history. */
export function resealThrough(
  pool: Pool,
  setup: Omit<WriteSetup, 'turns'>,
  request: ResealRequest,
): Promise<number> {
  const { statements } = setup
  const values = resealedValues(request.values)
  const entries = resealedHistory(request.history)
  return onConnection(pool, async (client) => {
    const [, , rows, noted, committed] = await orStoreFailure(
      sendTogether(client, [
        { text: statements.begin },
        lockStatement(setup),
        { text: statements.resealValues, values },
        { text: statements.resealHistory, values: entries },
        { text: 'commit' },
      ]),
    )
    checkCommitted(committed)
    return (rows?.rowCount ?? 0) + (noted?.rowCount ?? 0)
  })
}

async function onConnection<T>(pool: Pool, task: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await orStoreFailure(pool.connect())
  let isClean = true
  // Without a listener a lost connection would end the process. It also ends a write whose enqueue() waits for
  // something else than this connection.
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
  return cause instanceof Error && !('severity' in cause) // what PostgreSQL answers has a severity
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

async function writeOn(client: PoolClient, setup: WriteSetup, request: WriteRequest): Promise<WriteResult> {
  const { revision, rows } = await lock(client, setup, request)
  const result = planWrite(request, revision, rows)
  if (result.changes.length === 0) await orStoreFailure(client.query('rollback'))
  else await apply(client, setup, request, result)
  return result
}

async function lock(
  client: PoolClient,
  setup: WriteSetup,
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

function lockStatement({ statements, names, patience }: Omit<WriteSetup, 'turns'>): QueryConfig {
  const bounds = serverTimeouts(patience)
  const values = [
    bounds.lock_timeout,
    bounds.statement_timeout,
    bounds.idle_in_transaction_session_timeout,
  ].map(String)
  return { name: `${names.statements}.lock`, text: statements.lock, values }
}

async function apply(
  client: PoolClient,
  { statements, names, turns }: WriteSetup,
  request: WriteRequest,
  result: WriteResult,
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
  const trimmed = keepHistory === undefined ? [] : turns.due(result)
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

/** The transaction ends when `enqueue` does: what is sent later would be written outside of it. */
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

/** @throws {ServiceUnavailableException} an error that `enqueue` kept to itself has made the commit a rollback */
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
