/** Writes in PostgreSQL, from the lock to the commit. */
import { type AsyncTx, isDomainException } from '@fastify-modular/core'
import { serverTimeouts } from '@fastify-modular/core/internal/postgres'
import type { Pool, PoolClient, QueryConfig, QueryResult } from 'pg'
import { FMOD_SETTINGS_TRANSACTION_ENDED } from '../../misuse-errors.ts'
import { SettingScope } from '../../setting-definition.ts'
import { planWrite, rowIdText } from '../plan-write.ts'
import { noRevision, parseRevision, revisionId } from '../revision.ts'
import type { SqlWriter } from '../sql-store.ts'
import type { ReencryptRequest, RowId, StoredRow, WriteRequest, WriteResult } from '../store.ts'
import { isUnanswered, onConnection, orStoreFailure, sendTogether, WriteQueue } from './connection.ts'
import type { PostgresNames } from './names.ts'
import { type WriteStatements, writeStatements } from './write-statements.ts'

interface WriterInit {
  readonly pool: Pool
  readonly names: PostgresNames
  /** Milliseconds that one statement may take. */
  readonly statementTimeout: number
  /** Called after each commit, also after one whose answer was lost. */
  readonly onCommit: (written: WriteResult) => void
}

/** What the writes of one store share. */
interface Setup extends WriterInit {
  readonly statements: WriteStatements
}

export interface PostgresWriter extends SqlWriter {
  /** Runs a task in a transaction that holds the lock of the revision, as shared writes do, and commits. */
  underLock<T>(task: (client: PoolClient) => Promise<T>): Promise<T>
}

/** Milliseconds that a write waits for the writes before it. */
const turnLimit = 10_000

/** Connections of the pool that writes of users leave to everything else. */
const spared = 2

/**
 * Each write takes one connection of the pool. Statements that do not need each other's answer are sent together: a
 * round trip costs more than they do.
 */
export function createWriter(init: WriterInit): PostgresWriter {
  const { pool } = init
  const shared = new WriteQueue(turnLimit, 1)
  const ofUsers = new WriteQueue(turnLimit, Math.max(1, (pool.options.max ?? 10) - spared))
  const turns = new Map<string, WriteQueue>()
  const setup: Setup = { ...init, statements: writeStatements(init.names) }

  /** One at a time: writes that wait for the lock of a user's row would take the connections of all other users. */
  async function inTurnOf<T>(userId: string, task: () => Promise<T>): Promise<T> {
    const turn = turns.get(userId) ?? new WriteQueue(turnLimit, 1)
    turns.set(userId, turn)
    try {
      return await turn.take(task)
    } finally {
      if (turn.isIdle) turns.delete(userId)
    }
  }

  return {
    shared: (request) =>
      shared.take(() => onConnection(pool, (client) => writeShared(client, setup, request))),
    ofUsers: (request) =>
      inTurnOf(firstUserOf(request), () =>
        ofUsers.take(() => onConnection(pool, (client) => writeUsers(client, setup, request))),
      ),
    reencrypt: (request) =>
      shared.take(() =>
        untilNoDeadlock(() => onConnection(pool, (client) => reencrypt(client, setup, request))),
      ),
    underLock: (task) =>
      shared.take(() =>
        untilNoDeadlock(() =>
          onConnection(pool, async (client) => {
            await orStoreFailure(
              sendTogether(client, [{ text: setup.statements.begin }, lockStatement(setup)]),
            )
            const result = await orStoreFailure(task(client))
            checkCommitted(await orStoreFailure(client.query('commit')))
            return result
          }),
        ),
      ),
  }
}

function firstUserOf({ reads }: WriteRequest): string {
  return reads.find(({ scope }) => scope === SettingScope.User)?.userId ?? ''
}

/** Under the lock of the revision, which makes writers take turns: commit order is revision order. */
async function writeShared(client: PoolClient, setup: Setup, request: WriteRequest): Promise<WriteResult> {
  const [, locked, found] = await orStoreFailure(
    sendTogether(client, [
      { text: setup.statements.begin },
      lockStatement(setup),
      findStatement(setup, request.reads),
    ]),
  )
  const [meta] = (locked?.rows ?? []) as { readonly value: string; readonly now: string }[]
  const rows = ((found?.rows ?? []) as ValueRecord[]).map(toRow)
  const state = { ...(parseRevision(meta?.value) ?? noRevision), at: Number(meta?.now ?? Date.now()), rows }
  const result = planWrite(request, state)
  if (result.changes.length === 0) await orStoreFailure(client.query('rollback'))
  else await apply(client, setup, { request, result })
  return result
}

/** How often a transaction begins that PostgreSQL ends to resolve a deadlock. */
const attempts = 3

/** Begins again what PostgreSQL ended to resolve a deadlock: nothing of it was done. */
async function untilNoDeadlock<T>(task: () => Promise<T>, rollBack = async () => {}): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await task()
    } catch (error) {
      if (attempt === attempts || !isDeadlock(error)) throw error
      await rollBack()
    }
  }
}

/** Under the locks of the users: writers of different users do not wait for each other. */
async function writeUsers(client: PoolClient, setup: Setup, request: WriteRequest): Promise<WriteResult> {
  const ids = request.reads.filter(({ scope }) => scope === SettingScope.User)
  const others = request.reads.filter(({ scope }) => scope !== SettingScope.User)
  const statements = [
    { text: setup.statements.begin },
    lockUsersStatement(setup, ids),
    findUsersStatement(setup, ids),
    ...(others.length > 0 ? [findStatement(setup, others)] : []),
  ]
  const [, , found, shared] = await untilNoDeadlock(
    () => orStoreFailure(sendTogether(client, statements)),
    async () => void (await orStoreFailure(client.query('rollback'))),
  )
  const records = (found?.rows ?? []) as UserRecord[]
  const known = records.filter(isPresent).map((record) => toRow({ ...record, scope: SettingScope.User }))
  const lastVersions = new Map(
    records.map(({ user_id: userId, key, last }) => [
      rowIdText({ scope: SettingScope.User, userId, key }),
      Number(last),
    ]),
  )
  const result = planWrite(request, {
    at: Math.max(0, ...records.map(({ now }) => Number(now))),
    rows: [...known, ...((shared?.rows ?? []) as ValueRecord[]).map(toRow)],
    lastVersion: (id) => lastVersions.get(rowIdText(id)) ?? 0,
  })
  if (result.changes.length === 0) await orStoreFailure(client.query('rollback'))
  else await apply(client, setup, { request, result, ofUsers: true })
  return result
}

/**
 * Replaces texts under the lock of the writers, or of the rows where they are users': one that has read a plain text
 * before would record it in the history.
 */
async function reencrypt(client: PoolClient, setup: Setup, request: ReencryptRequest): Promise<number> {
  const { statements } = setup
  const [, , values, entries, committed] = await orStoreFailure(
    sendTogether(client, [
      { text: statements.begin },
      lockStatement(setup),
      { text: statements.reencryptValues, values: reencryptedValues(request.values) },
      { text: statements.reencryptHistory, values: reencryptedHistory(request.history) },
      { text: 'commit' },
    ]),
  )
  checkCommitted(committed)
  return (values?.rowCount ?? 0) + (entries?.rowCount ?? 0)
}

function lockStatement({ statements, names, statementTimeout }: Setup): QueryConfig {
  const values = timeoutsOf(statementTimeout)
  return { name: names.statement('lock'), text: statements.lock, values }
}

function timeoutsOf(statementTimeout: number): string[] {
  const timeouts = serverTimeouts(statementTimeout)
  return [
    timeouts.lock_timeout,
    timeouts.statement_timeout,
    timeouts.idle_in_transaction_session_timeout,
  ].map(String)
}

function findStatement({ statements, names }: Setup, ids: readonly RowId[]): QueryConfig {
  return { name: names.statement('find'), text: statements.find, values: columnsOf(ids) }
}

function lockUsersStatement(
  { statements, names, statementTimeout }: Setup,
  ids: readonly RowId[],
): QueryConfig {
  const locks = ids.map(({ userId }) => names.userLock(userId))
  const values = [...timeoutsOf(statementTimeout), locks]
  return { name: names.statement('lockUsers'), text: statements.lockUsers, values }
}

function findUsersStatement({ statements, names }: Setup, ids: readonly RowId[]): QueryConfig {
  return { name: names.statement('findUsers'), text: statements.findUsers, values: columnsOf(ids).slice(1) }
}

interface Decided {
  readonly request: WriteRequest
  readonly result: WriteResult
  readonly ofUsers?: boolean
}

async function apply(
  client: PoolClient,
  { statements, names, onCommit }: Setup,
  { request, result, ofUsers = false }: Decided,
): Promise<void> {
  const { actor, origin, requestId = null, note = null } = request
  const { changes, at } = result
  const columns = [
    ...columnsOf(changes),
    changes.map(({ revision }) => revision),
    changes.map(({ before }) => before?.value ?? null),
    changes.map(({ before }) => before?.encrypted ?? false),
    changes.map(({ after }) => after?.value ?? null),
    changes.map(({ after }) => after?.encrypted ?? false),
  ]
  const values = [at, actor, origin, requestId, note, ...columns, ofUsers ? '' : result.token]
  const applied = ofUsers
    ? { name: names.statement('saveUsers'), text: statements.saveUsers, values }
    : { name: names.statement('save'), text: statements.save, values: [...values, revisionId(result)] }
  const commit = { text: 'commit' }
  try {
    if (request.enqueue) {
      await orStoreFailure(client.query(applied))
      await enqueue(client, request, result)
      checkCommitted(await orStoreFailure(client.query(commit)))
    } else {
      // After a failure PostgreSQL answers a commit with a rollback, so it can be sent along.
      checkCommitted((await orStoreFailure(sendTogether(client, [applied, commit]))).at(-1))
    }
  } catch (error) {
    // It may have been committed all the same.
    if (isUnanswered(error)) onCommit(result)
    throw error
  }
  onCommit(result)
}

function isDeadlock(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && cause.code === '40P01'
}

/** The names of rows, as the driver sends arrays. */
function columnsOf(ids: readonly RowId[]): unknown[][] {
  return [ids.map(({ scope }) => scope), ids.map(({ userId }) => userId), ids.map(({ key }) => key)]
}

function reencryptedValues(rows: ReencryptRequest['values']): unknown[][] {
  return [
    ...columnsOf(rows.map(({ before }) => before)),
    rows.map(({ before }) => before.revision),
    rows.map(({ before }) => before.value),
    rows.map(({ after }) => after.value),
    rows.map(({ after }) => after.encrypted),
  ]
}

function reencryptedHistory(rows: ReencryptRequest['history']): unknown[][] {
  return [
    ...columnsOf(rows.map(({ before }) => before)),
    rows.map(({ before }) => before.revision),
    rows.map(({ before }) => before.oldValue),
    rows.map(({ before }) => before.newValue),
    rows.map(({ after }) => after.oldValue),
    rows.map(({ after }) => after.oldEncrypted),
    rows.map(({ after }) => after.newValue),
    rows.map(({ after }) => after.newEncrypted),
  ]
}

/** The transaction ends when `enqueue` does: a later statement would run outside of it. */
async function enqueue(client: PoolClient, request: WriteRequest, result: WriteResult): Promise<void> {
  let isOpen = true
  const tx: AsyncTx = {
    kind: 'async',
    async query(sql, params) {
      if (!isOpen) throw new FMOD_SETTINGS_TRANSACTION_ENDED()
      const { rows } = await orEventFailure(client.query(sql, [...params]))
      return { rows }
    },
  }
  try {
    await request.enqueue?.(tx, result)
  } finally {
    isOpen = false
  }
}

/**
 * Waits for a statement of the events.
 * @throws what `toStoreFailure` makes of its error; where the database answered, no 503: the transport is defective
 */
async function orEventFailure<T>(statement: Promise<T>): Promise<T> {
  try {
    return await orStoreFailure(statement)
  } catch (error) {
    if (!isDomainException(error) || isUnanswered(error)) throw error
    throw new Error('PostgreSQL refused a statement of its events.', { cause: error })
  }
}

/** @throws {Error} the commit was a rollback, because of an error that `enqueue` did not pass on: a defect of the transport */
function checkCommitted(committed: QueryResult | undefined): void {
  if (committed?.command === 'COMMIT') return
  throw new Error('PostgreSQL rolled the write of a setting back: a statement of its events failed.')
}

/** A row of settings_value as the driver gives it; bigint arrives as text. */
interface ValueRecord {
  readonly scope: SettingScope
  readonly user_id: string
  readonly key: string
  readonly value: string
  readonly encrypted: boolean
  readonly revision: string
  readonly updated_at: string
  readonly updated_by: string | null
}

type OwnRecord = Omit<ValueRecord, 'scope'>

/** The name of a user's row, with the row if there is one; with the time of the server after the lock. */
type UserRecord = Pick<OwnRecord, 'user_id' | 'key'> &
  (OwnRecord | { readonly revision: null }) & {
    readonly now: string
    /** The version of the newest entry of history, where there is an entry and no row. */
    readonly last: string | null
  }

function isPresent(record: UserRecord): record is UserRecord & OwnRecord {
  return record.revision !== null
}

function toRow(record: ValueRecord): StoredRow {
  return {
    scope: record.scope,
    userId: record.user_id,
    key: record.key,
    value: record.value,
    encrypted: record.encrypted,
    revision: Number(record.revision),
    updatedAt: Number(record.updated_at),
    updatedBy: record.updated_by,
  }
}
