/** Writes in PostgreSQL, from the lock to the commit. */
import { setTimeout } from 'node:timers/promises'
import { isDomainException } from '@fastify-modular/core'
import type { AsyncTx } from '@fastify-modular/core/events/durable'
import { serverTimeouts } from '@fastify-modular/core/internal/postgres'
import type { Pool, PoolClient, QueryConfig, QueryResult } from 'pg'
import { errorCodes } from '../../misuse-errors.ts'
import { type Found, planWrite, rowIdText } from '../plan-write.ts'
import { revisionId, toRevision } from '../revision.ts'
import type { SqlWriter } from '../sql-store.ts'
import { type SqlRow, toStoredRow } from '../statements.ts'
import { type Owner, ownerHash, type RowId, type WriteRequest, type WriteResult } from '../store.ts'
import { parseWindow, windowColumns } from '../windows.ts'
import { isUnanswered, onConnection, orStoreFailure, sendTogether, WriteQueue } from './connection.ts'
import type { Announcer } from './listen.ts'
import type { PostgresNames } from './names.ts'
import { writeStatements } from './write-statements.ts'

interface WriterInit {
  readonly pool: Pool
  readonly names: PostgresNames
  /** Milliseconds that one statement may take. */
  readonly statementTimeout: number
  /** Gets each commit, also one whose answer was lost. */
  readonly announcer: Pick<Announcer, 'add'>
}

/** Milliseconds that a write waits for the writes before it. */
const turnLimit = 10_000

/** Connections of the pool that writes of owners leave to everything else. */
const spared = 2

const begin: QueryConfig = { text: 'begin isolation level read committed' }
const commit: QueryConfig = { text: 'commit' }

/**
 * Each write takes one connection of the pool. Statements that do not need each other's answer are sent together: a
 * round trip costs more than they do.
 */
export class PostgresWriter implements SqlWriter {
  readonly #init: WriterInit
  readonly #statements: ReturnType<typeof writeStatements>
  readonly #timeouts: readonly string[]
  readonly #sharedTurn = new WriteQueue(turnLimit, 1)
  readonly #ownedTurn: WriteQueue
  /** By owner, one at a time: writes that wait for the lock of an owner would take the connections of all others. */
  readonly #turns = new Map<string, WriteQueue>()

  constructor(init: WriterInit) {
    this.#init = init
    this.#statements = writeStatements(init.names)
    const timeouts = serverTimeouts(init.statementTimeout)
    const { lock_timeout: lock, statement_timeout: statement } = timeouts
    this.#timeouts = [lock, statement, timeouts.idle_in_transaction_session_timeout].map(String)
    this.#ownedTurn = new WriteQueue(turnLimit, Math.max(1, (init.pool.options.max ?? 10) - spared))
  }

  /** Under the lock of the revision, which makes writers take turns: commit order is revision order. */
  shared(request: WriteRequest): Promise<WriteResult> {
    return this.#transact(this.#sharedTurn, async (client) => {
      const statements = [begin, this.#lock(), this.#find(request.reads)]
      if (request.window) statements.push(this.#prepared('windows', []))
      const [, locked, found, windows] = await send(client, statements)
      const [meta] = (locked?.rows ?? []) as { readonly value: string; readonly now: string }[]
      const result = planWrite(request, {
        ...toRevision(meta?.value),
        at: Number(meta?.now ?? Date.now()),
        windows: ((windows?.rows ?? []) as Parameters<typeof parseWindow>[0][]).map(parseWindow),
        ...rowsOf(found),
      })
      const columns = [...columnsOf(request, result), revisionId(result)]
      return this.#finish(client, request, result, this.#prepared('save', columns))
    })
  }

  /** Under the lock of the owner: writers of different owners do not wait for each other. */
  async owned(owner: Owner, request: WriteRequest): Promise<WriteResult> {
    const { scope, id } = owner
    const isOwn = (row: RowId): boolean => row.scope === scope && row.owner === id
    const keys = request.reads.filter((row) => isOwn(row)).map(({ key }) => key)
    const others = request.reads.filter((row) => !isOwn(row))
    const statements = [
      begin,
      this.#prepared('lockOwner', [...this.#timeouts, this.#init.names.ownerLock(owner)]),
      this.#prepared('findOwned', [scope, id, keys]),
      ...(others.length > 0 ? [this.#find(others)] : []),
    ]
    return this.#inTurnOf(ownerHash(owner), () =>
      this.#transact(this.#ownedTurn, async (client) => {
        const [, , found, others] = await send(client, statements)
        const times = ((found?.rows ?? []) as { readonly now: string }[]).map(({ now }) => Number(now))
        const result = planWrite(request, { at: Math.max(0, ...times), of: owner, ...rowsOf(found, others) })
        return this.#finish(client, request, result, this.#prepared('saveOwned', columnsOf(request, result)))
      }),
    )
  }

  /** Runs a task in a transaction that holds the lock of the revision, as shared writes do, and commits. */
  underLock<T>(task: (client: PoolClient) => Promise<T>): Promise<T> {
    return this.#transact(this.#sharedTurn, async (client) => {
      await send(client, [begin, this.#lock()])
      const result = await orStoreFailure(task(client))
      checkCommitted(await send(client, [commit]))
      return result
    })
  }

  async #inTurnOf<T>(owner: string, task: () => Promise<T>): Promise<T> {
    const turn = this.#turns.get(owner) ?? new WriteQueue(turnLimit, 1)
    this.#turns.set(owner, turn)
    try {
      return await turn.take(task)
    } finally {
      if (turn.isIdle) this.#turns.delete(owner)
    }
  }

  #transact<T>(turn: WriteQueue, task: (client: PoolClient) => Promise<T>): Promise<T> {
    return turn.take(() => untilNoDeadlock(() => onConnection(this.#init.pool, task)))
  }

  /** Writes what was decided, if anything, and ends the transaction. */
  async #finish(
    client: PoolClient,
    request: WriteRequest,
    result: WriteResult,
    save: QueryConfig,
  ): Promise<WriteResult> {
    const window = request.window?.(result)
    if (window) await send(client, [this.#prepared('setWindow', windowColumns(window))])
    if (result.changes.length === 0) {
      await send(client, [window ? commit : { text: 'rollback' }])
      return result
    }
    const { announcer } = this.#init
    try {
      if (request.enqueue) {
        await send(client, [save])
        await enqueue(client, request, result)
        checkCommitted(await send(client, [commit]))
      } else {
        // After a failure PostgreSQL answers a commit with a rollback, so it can be sent along.
        checkCommitted(await send(client, [save, commit]))
      }
    } catch (error) {
      // It may have been committed all the same.
      if (isUnanswered(error)) announcer.add(result)
      throw error
    }
    announcer.add(result)
    return result
  }

  #lock(): QueryConfig {
    return this.#prepared('lock', this.#timeouts)
  }

  #find(ids: readonly RowId[]): QueryConfig {
    return this.#prepared('find', namesOf(ids))
  }

  #prepared(name: keyof ReturnType<typeof writeStatements>, values: readonly unknown[]): QueryConfig {
    return { name: this.#init.names.statement(name), text: this.#statements[name], values: [...values] }
  }
}

function send(client: PoolClient, statements: readonly QueryConfig[]): Promise<readonly QueryResult[]> {
  return orStoreFailure(sendTogether(client, statements))
}

/** How often a transaction begins that PostgreSQL ends to resolve a deadlock. */
const attempts = 3

/** Milliseconds after the first deadlock, twice as many after the second. */
const pauseAfterDeadlock = 50

/**
 * Begins again what PostgreSQL ended to resolve a deadlock: nothing of it was done. The pause lets the other transaction
 * have its rows first: a row that was let go belongs to whoever is faster, not to whoever waits for it.
 */
async function untilNoDeadlock<T>(task: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await task()
    } catch (error) {
      if (attempt === attempts || !isDeadlock(error)) throw error
      await setTimeout(attempt * pauseAfterDeadlock)
    }
  }
}

function isDeadlock(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && cause.code === '40P01'
}

/** The names of rows, as the driver sends arrays. */
function namesOf(ids: readonly RowId[]): unknown[][] {
  return [ids.map(({ scope }) => scope), ids.map(({ owner }) => owner), ids.map(({ key }) => key)]
}

/** The parameters of the statements that save. */
function columnsOf(request: WriteRequest, { changes, at, token }: WriteResult): unknown[] {
  const { actor, origin, requestId = null, note = null } = request
  return [
    at,
    actor,
    origin,
    requestId,
    note,
    ...namesOf(changes),
    changes.map(({ revision }) => revision),
    changes.map(({ before }) => before?.value ?? null),
    changes.map(({ before }) => before?.encrypted ?? false),
    changes.map(({ after }) => after?.value ?? null),
    changes.map(({ after }) => after?.encrypted ?? false),
    token,
  ]
}

/** The transaction ends when `enqueue` does: a later statement would run outside of it. */
async function enqueue(client: PoolClient, request: WriteRequest, result: WriteResult): Promise<void> {
  let isOpen = true
  const tx: AsyncTx = {
    kind: 'async',
    async query(sql, params) {
      if (!isOpen) throw new errorCodes.FMOD_SETTINGS_TRANSACTION_ENDED()
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
function checkCommitted(results: readonly QueryResult[]): void {
  if (results.at(-1)?.command === 'COMMIT') return
  throw new Error('PostgreSQL rolled the write of a setting back: a statement of its events failed.')
}

/** What was found by names; a row that is missing has its name alone, and the version of its newest entry of history. */
function rowsOf(...results: readonly (QueryResult | undefined)[]): Pick<Found, 'rows' | 'lastVersion'> {
  const found = results.flatMap((result) => (result?.rows ?? []) as (RowId & SqlRow)[])
  const lastVersions = new Map(found.map((row) => [rowIdText(row), Number(row['last'])]))
  return {
    rows: found.filter((row) => row['value'] !== null).map(toStoredRow),
    lastVersion: (id) => lastVersions.get(rowIdText(id)) ?? 0,
  }
}
