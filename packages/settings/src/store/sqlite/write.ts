/** Writes in SQLite, from the lock to the commit, and their statements. */
import type { SyncTx } from '@fastify-modular/core/events/durable'
import type { Database, Statement } from 'better-sqlite3'
import { type Column, getTableColumns, getTableName } from 'drizzle-orm'
import { FMOD_SETTINGS_TRANSACTION_ENDED, FMOD_SETTINGS_TRANSACTION_OPEN } from '../../misuse-errors.ts'
import { historyOf, planWrite } from '../plan-write.ts'
import { noRevision, parseRevision, revisionId } from '../revision.ts'
import type { HistoryRow, Owner, RowId, StoredRow, WriteRequest, WriteResult } from '../store.ts'
import type { SqlWriter } from '../sql-store.ts'
import {
  anyWindow,
  forgottenBelow,
  openWindow,
  parseWindow,
  type StoredWindow,
  windowName,
  windowText,
} from '../windows.ts'
import type { SqliteTables } from '../sqlite-tables.ts'

/** A write of the rows of one owner. */
interface OwnedWrite {
  readonly owner: Owner
  readonly request: WriteRequest
}

/**
 * Writes take the lock of the file first (`immediate`): a transaction that reads before it writes would otherwise fail
 * whenever another process wrote in between, whatever the time-out.
 */
export function createWriter(client: Database, tables: SqliteTables): SqlWriter {
  const values = prepareValues(client, tables.values)
  const history = prepareHistory(client, tables.history)
  const counters = prepareCounters(client, getTableName(tables.meta))
  const windows = prepareWindows(client, getTableName(tables.meta))

  function foundBy({ reads }: WriteRequest) {
    const { lastVersion } = history
    return { at: Date.now(), rows: reads.flatMap((id) => values.find(id) ?? []), lastVersion }
  }

  function writeShared(request: WriteRequest): WriteResult {
    const last = parseRevision(counters.revision.get()) ?? noRevision
    const open = request.window ? windows.open() : []
    const result = planWrite(request, { ...foundBy(request), ...last, windows: open })
    const window = request.window?.(result)
    if (window) windows.save(window)
    if (result.changes.length === 0) return result
    counters.saveRevision.run(revisionId(result))
    return apply(request, result, 0)
  }

  function writeOwned({ owner, request }: OwnedWrite): WriteResult {
    const result = planWrite(request, { ...foundBy(request), of: owner })
    if (result.changes.length === 0) return result
    return apply(request, result, Number(counters.countOwned.get() ?? 0))
  }

  /** `seq` is the number of a write of owners' values. */
  function apply(request: WriteRequest, result: WriteResult, seq: number): WriteResult {
    values.save(result.changes.flatMap(({ after }) => after ?? []))
    for (const change of result.changes) {
      if (!change.after) values.delete(change)
      history.add(historyOf(change, request, result), seq)
    }
    enqueue(client, request, result)
    return result
  }

  const write = immediate(client, writeOwned)
  return {
    shared: immediate(client, writeShared),
    owned: (owner, request) => write({ owner, request }),
  }
}

/**
 * Makes a transaction that takes the lock first.
 * @throws {FMOD_SETTINGS_TRANSACTION_OPEN} when called inside a transaction of the application: better-sqlite3 would make a
 * savepoint, and the application could undo an acknowledged write
 */
export function immediate<A, R>(client: Database, task: (argument: A) => R): (argument: A) => R {
  const transaction = client.transaction(task)
  return (argument) => {
    if (client.inTransaction) throw new FMOD_SETTINGS_TRANSACTION_OPEN()
    return transaction.immediate(argument)
  }
}

/** @throws {Error} what a promise writes later would escape the transaction */
function enqueue(client: Database, request: WriteRequest, result: WriteResult): void {
  let isOpen = true
  const statements = new Map<string, Statement>() // a bulk enqueues hundreds of events with one statement
  const tx: SyncTx = {
    kind: 'sync',
    run(sql, params) {
      if (!isOpen) throw new FMOD_SETTINGS_TRANSACTION_ENDED()
      const statement = statements.get(sql) ?? client.prepare(sql)
      statements.set(sql, statement)
      statement.run(...params)
    },
  }
  const pending = request.enqueue?.(tx, result)
  isOpen = false // a later statement would run outside of the transaction
  if (!pending) return
  pending.catch(() => {}) // the failure below is the one that is reported
  throw new Error('A SQLite transaction cannot wait for the promise that enqueue() returned.')
}

// Statements without drizzle: a bulk runs them a thousand times, and its mapping of parameters costs as much as they do.

/** So many rows travel in one statement where there are as many: for values that is nearly twice as fast. */
const batch = 50

function prepareValues(client: Database, table: SqliteTables['values']) {
  const name = getTableName(table)
  const { columns, paramsOf } = parametersOf<StoredRow>(getTableColumns(table))
  const isNamed = 'scope = ? and owner = ? and key = ?'
  // As arrays: a bulk reads each of its rows.
  const find = client
    .prepare<[number, string, string], ValueRecord>(
      `select value, encrypted, revision, updated_at, updated_by from ${name} where ${isNamed}`,
    )
    .raw()
  const prepareSave = (rows: number) =>
    client.prepare(`
      insert into ${name} (${columns.join(', ')})
      values ${Array.from({ length: rows }, () => `(${columns.map(() => '?').join(', ')})`).join(', ')}
      on conflict (scope, owner, key) do update set value = excluded.value, encrypted = excluded.encrypted,
        revision = excluded.revision, updated_at = excluded.updated_at, updated_by = excluded.updated_by`)
  const saveOne = prepareSave(1)
  const saveBatch = prepareSave(batch)
  const remove = client.prepare(`delete from ${name} where ${isNamed}`)

  return {
    find: (id: RowId) => {
      const record = find.get(id.scope, id.owner, id.key)
      return record && toRow(id, record)
    },
    save: (rows: readonly StoredRow[]) => {
      const single = rows.length % batch
      for (const row of rows.slice(0, single)) saveOne.run(paramsOf(row))
      for (let start = single; start < rows.length; start += batch)
        saveBatch.run(rows.slice(start, start + batch).flatMap(paramsOf))
    },
    delete: (id: RowId) => void remove.run(id.scope, id.owner, id.key),
  }
}

function prepareHistory(client: Database, table: SqliteTables['history']) {
  const name = getTableName(table)
  const { seq: counted, ...members } = getTableColumns(table)
  const { columns, paramsOf } = parametersOf<HistoryRow>(members)
  const all = [...columns, counted.name]
  const add = client.prepare(
    `insert into ${name} (${all.join(', ')}) values (${all.map(() => '?').join(', ')})`,
  )
  const lastVersion = client
    .prepare<[string, number, string], number | null>(
      `select max(revision) from ${name} where key = ? and scope = ? and owner = ?`,
    )
    .pluck()

  return {
    add: (row: HistoryRow, seq: number) => void add.run([...paramsOf(row), seq]),
    /** The version of the newest entry of history of a value, or 0. */
    lastVersion: ({ scope, owner, key }: RowId) => lastVersion.get(key, scope, owner) ?? 0,
  }
}

function prepareCounters(client: Database, meta: string) {
  return {
    revision: client.prepare<[], string>(`select value from ${meta} where name = 'revision'`).pluck(),
    saveRevision: client.prepare(`update ${meta} set value = ? where name = 'revision'`),
    /** Counts a write of owners' values; selects its number. */
    countOwned: client
      .prepare<[], string>(`update ${meta} set value = value + 1 where name = 'owned' returning value`)
      .pluck(),
  }
}

function prepareWindows(client: Database, meta: string) {
  const open = client.prepare<[string, string], { name: string; value: string }>(
    `select name, value from ${meta} where name like ? and value like ?`,
  )
  const save = client.prepare(
    `insert into ${meta} (name, value) values (?, ?) on conflict (name) do update set value = excluded.value`,
  )
  const forget = client.prepare(`delete from ${meta} where name like ? and name < ? and value not like ?`)
  return {
    open: () => open.all(anyWindow, openWindow).map(parseWindow),
    save(window: StoredWindow): void {
      save.run(windowName(window.revision), windowText(window))
      forget.run(anyWindow, forgottenBelow(window), openWindow)
    },
  }
}

/** The names of the columns of a row, and its members as their parameters. */
function parametersOf<T extends object>(members: { readonly [P in keyof T]: Column }) {
  const names = Object.keys(members) as (keyof T)[]
  const paramsOf = (row: T): unknown[] =>
    names.map((name) => (typeof row[name] === 'boolean' ? Number(row[name]) : row[name]))
  return { columns: names.map((name) => members[name].name), paramsOf }
}

/** A row of settings_value without its name, as the driver gives it. */
type ValueRecord = readonly [
  value: string,
  encrypted: number,
  revision: number,
  updatedAt: number,
  updatedBy: string | null,
]

function toRow({ scope, owner, key }: RowId, record: ValueRecord): StoredRow {
  const [value, encrypted, revision, updatedAt, updatedBy] = record
  return { scope, owner, key, value, encrypted: encrypted === 1, revision, updatedAt, updatedBy }
}
