/** Writes in SQLite, from the lock to the commit, and their statements. */
import type { SyncTx } from '@fastify-modular/core/events/durable'
import type { Database, Statement } from 'better-sqlite3'
import { errorCodes } from '../../misuse-errors.ts'
import { historyOf, planWrite } from '../plan-write.ts'
import { revisionId, toRevision } from '../revision.ts'
import { type SqlRow, type TableNames, toStoredRow, valueColumns } from '../statements.ts'
import type { AppliedChange, Owner, RowId, StoredRow, WriteRequest, WriteResult } from '../store.ts'
import type { SqlWriter } from '../sql-store.ts'
import { isOpenWindow, isSettledWindow, parseWindow, windowColumns } from '../windows.ts'

/** What a look at the counters finds. */
interface MetaRow {
  readonly name: string
  readonly value: string
}

/**
 * Writes take the lock of the file first (`immediate`): a transaction that reads before it writes would otherwise fail
 * whenever another process wrote in between, whatever the time-out.
 */
export function createWriter(client: Database, tables: TableNames): SqlWriter {
  const texts = writeStatements(tables)
  const prepare = preparing(client)
  const metaOf = (text: string, ...values: unknown[]) => prepare(text).all(...values) as MetaRow[]
  const find = (id: RowId) => prepare(texts.find).all(id.scope, id.owner, id.key) as SqlRow[]
  const lastVersion = (id: RowId) => {
    const last = prepare(texts.lastVersion).get(id.key, id.scope, id.owner) as {
      readonly version: number | null
    }
    return last.version ?? 0
  }

  function foundBy({ reads }: WriteRequest) {
    return { at: Date.now(), rows: reads.flatMap(find).map(toStoredRow), lastVersion }
  }

  function writeShared(request: WriteRequest): WriteResult {
    const last = toRevision(metaOf(texts.revision)[0]?.value)
    const windows = request.window ? metaOf(texts.windows).map(parseWindow) : []
    const result = planWrite(request, { ...foundBy(request), ...last, windows })
    const window = request.window?.(result)
    if (window) {
      const [name, value, oldest] = windowColumns(window)
      prepare(texts.saveWindow).run(name, value)
      prepare(texts.forgetWindows).run(oldest)
    }
    if (result.changes.length === 0) return result
    prepare(texts.saveRevision).run(revisionId(result))
    return apply(request, result, 0)
  }

  function writeOwned(owner: Owner, request: WriteRequest): WriteResult {
    const result = planWrite(request, { ...foundBy(request), of: owner })
    if (result.changes.length === 0) return result
    return apply(request, result, Number(metaOf(texts.countOwned)[0]?.value ?? 0))
  }

  /** `seq` is the number of a write of owners' values. */
  function apply(request: WriteRequest, result: WriteResult, seq: number): WriteResult {
    const rows = result.changes.flatMap(({ after }) => after ?? [])
    const single = rows.length % batch
    for (const row of rows.slice(0, single)) prepare(texts.saveOne).run(paramsOf(row))
    for (let start = single; start < rows.length; start += batch)
      prepare(texts.saveBatch).run(rows.slice(start, start + batch).flatMap(paramsOf))
    for (const change of result.changes) {
      if (!change.after) prepare(texts.remove).run(change.scope, change.owner, change.key)
      prepare(texts.note).run([...noteOf(change, request, result), seq])
    }
    enqueue(client, request, result)
    return result
  }

  return {
    shared: (request) => immediate(client, () => writeShared(request)),
    owned: (owner, request) => immediate(client, () => writeOwned(owner, request)),
  }
}

/**
 * Runs a transaction that takes the lock first.
 * @throws {FMOD_SETTINGS_TRANSACTION_OPEN} when called inside a transaction of the application: better-sqlite3 would make a
 * savepoint, and the application could undo an acknowledged write
 */
export function immediate<T>(client: Database, task: () => T): T {
  if (client.inTransaction) throw new errorCodes.FMOD_SETTINGS_TRANSACTION_OPEN()
  return client.transaction(task).immediate()
}

/** @throws {Error} what a promise writes later would escape the transaction */
function enqueue(client: Database, request: WriteRequest, result: WriteResult): void {
  let isOpen = true
  const prepare = preparing(client) // a bulk enqueues hundreds of events with one statement
  const tx: SyncTx = {
    kind: 'sync',
    run(sql, params) {
      if (!isOpen) throw new errorCodes.FMOD_SETTINGS_TRANSACTION_ENDED()
      prepare(sql).run(...params)
    },
  }
  const pending = request.enqueue?.(tx, result)
  isOpen = false // a later statement would run outside of the transaction
  if (!pending) return
  pending.catch(() => {}) // the failure below is the one that is reported
  throw new Error('A SQLite transaction cannot wait for the promise that enqueue() returned.')
}

/** Returns the function that prepares each statement once. */
export function preparing(client: Database): (text: string) => Statement {
  const prepared = new Map<string, Statement>()
  return (text) => {
    const statement = prepared.get(text) ?? client.prepare(text)
    prepared.set(text, statement)
    return statement
  }
}

/** So many rows travel in one statement where there are as many: for values that is nearly twice as fast. */
const batch = 50

/** With parameters by position, which are read faster than those by name: a bulk runs some of them a thousand times. */
function writeStatements({ values, history, meta }: TableNames) {
  const isNamed = 'scope = ? and owner = ? and key = ?'
  const save = (rows: number) => `
    insert into ${values} (scope, owner, key, value, encrypted, revision, updated_at, updated_by)
    values ${Array.from({ length: rows }, () => '(?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}
    on conflict (scope, owner, key) do update set value = excluded.value, encrypted = excluded.encrypted,
      revision = excluded.revision, updated_at = excluded.updated_at, updated_by = excluded.updated_by`
  return {
    find: `select ${valueColumns} from ${values} v where ${isNamed}`,
    saveOne: save(1),
    saveBatch: save(batch),
    remove: `delete from ${values} where ${isNamed}`,
    note: `insert into ${history} (scope, owner, key, revision, token, old_value, old_encrypted, new_value, new_encrypted,
        origin, actor, request_id, note, set_size, at, seq)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    // Of a value: the version of its newest entry.
    lastVersion: `select max(revision) as version from ${history} where key = ? and scope = ? and owner = ?`,
    revision: `select name, value from ${meta} where name = 'revision'`,
    saveRevision: `update ${meta} set value = ? where name = 'revision'`,
    // Counts a write of owners' values; returns its number.
    countOwned: `update ${meta} set value = value + 1 where name = 'owned' returning name, value`,
    windows: `select name, value from ${meta} where ${isOpenWindow}`,
    saveWindow: `insert into ${meta} (name, value) values (?, ?) on conflict (name) do update set value = excluded.value`,
    forgetWindows: `delete from ${meta} where name < ? and ${isSettledWindow}`,
  }
}

/** The parameters of `save`. */
function paramsOf(row: StoredRow): unknown[] {
  const { scope, owner, key, value, encrypted, revision, updatedAt, updatedBy } = row
  return [scope, owner, key, value, Number(encrypted), revision, updatedAt, updatedBy]
}

/** The parameters of `note`, but for the last. */
function noteOf(change: AppliedChange, request: WriteRequest, result: WriteResult): unknown[] {
  const row = historyOf(change, request, result)
  return [
    row.scope,
    row.owner,
    row.key,
    row.revision,
    row.token,
    row.oldValue,
    Number(row.oldEncrypted),
    row.newValue,
    Number(row.newEncrypted),
    row.origin,
    row.actor,
    row.requestId,
    row.note,
    row.setSize,
    row.at,
  ]
}
