/** Rows by name, and what a write does, decided before a store touches anything. The same for every store. */
import { randomUUID } from 'node:crypto'
import { ArgumentException } from '@fastify-modular/core'
import { isOwned, isStorable, SettingScope } from '../setting-definition.ts'
import { noRevision, type Revision } from './revision.ts'
import type { StoredWindow } from './windows.ts'
import type {
  AppliedChange,
  HistoryRow,
  Owner,
  RowChange,
  RowId,
  StoredRow,
  WriteRequest,
  WriteResult,
} from './store.ts'

/** Orders rows by scope, owner and key: the order in which every store locks and writes them. */
export function compareRowIds(a: RowId, b: RowId): number {
  return a.scope - b.scope || compareText(a.owner, b.owner) || compareText(a.key, b.key)
}

/** Whether two rows of one name are equal; undefined means unset. */
export function isSameRow(a: StoredRow | undefined, b: StoredRow | undefined): boolean {
  if (!a || !b) return a === b
  return (
    a.revision === b.revision &&
    a.value === b.value &&
    a.encrypted === b.encrypted &&
    a.updatedAt === b.updatedAt &&
    a.updatedBy === b.updatedBy
  )
}

/** One text per row, to look rows up in a Map. NUL cannot be part of a name, so no two rows share it. */
export function rowIdText(id: RowId): string {
  return `${id.scope}\0${id.owner}\0${id.key}`
}

/** Whose a row is; undefined of System and Application rows. */
export function ownerOf({ scope, owner: id }: RowId): Owner | undefined {
  return isOwned(scope) ? { scope, id } : undefined
}

/** The tenant whose row it is; undefined of other rows. */
export function tenantOf(row: Pick<RowId, 'scope' | 'owner'> | undefined): string | undefined {
  return row?.scope === SettingScope.Tenant ? row.owner : undefined
}

/**
 * Whether rows with these names can exist. Reads answer nothing for others, which a database would refuse, or find under
 * another name.
 */
export function canExist(...names: readonly (string | undefined)[]): boolean {
  return names.every((name) => name === undefined || isStorable(name))
}

/** @throws {ArgumentException} no database could tell this row from others */
function checkRowId(id: RowId): void {
  if (isOwned(id.scope) !== (id.owner !== '')) {
    throw new ArgumentException('An owner belongs to User and Tenant scope and to no other.', 'owner')
  }
  checkStorable(id.owner, 'owner')
  checkStorable(id.key, 'key')
}

/** @throws {ArgumentException} when a text contains NUL or a lone surrogate */
function checkStorable(text: string | null | undefined, name: string): void {
  if (text && !isStorable(text)) {
    throw new ArgumentException(`"${name}" contains characters that cannot be stored.`, name)
  }
}

/** Orders texts by their UTF-16 code units. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/**
 * Refuses a request that no store could keep: call it first in `write`, before the lock is taken.
 * @throws {ArgumentException} an owner in System or Application scope, another scope without one, NUL or a lone surrogate in a name or note
 */
export function checkWrite(request: WriteRequest): void {
  for (const id of request.reads) checkRowId(id)
  for (const name of ['actor', 'origin', 'requestId', 'note'] as const) checkStorable(request[name], name)
}

/** What a write finds under its lock. */
export interface Found {
  /** Milliseconds since the epoch, by the clock of the database. */
  readonly at: number
  /** At least those that the request reads. */
  readonly rows: Iterable<StoredRow>
  /** Of a value without a row: the version of its newest entry of history, or 0. */
  lastVersion(id: RowId): number
}

/** For a write of System and Application rows: the last such write. */
interface FoundShared extends Found, Revision {
  /** The open ones, where the request may save one. */
  readonly windows: readonly StoredWindow[]
}

/** For a write of an owner's rows: whose they are. */
interface FoundOwned extends Found {
  readonly of: Owner
}

/**
 * Lets the request decide and returns what to write: the changes in the order of their rows, with their versions, without
 * deletions of unset rows. Call it under the lock, and write the result before the lock ends.
 * @throws {Error} two changes of one row, a change of a row that was not read, or of one that belongs to another kind of write
 */
export function planWrite(request: WriteRequest, current: FoundShared | FoundOwned): WriteResult {
  const { at, rows, lastVersion } = current
  const isShared = 'revision' in current
  const of = 'of' in current ? current.of : undefined
  const isToWrite = ({ scope, owner }: RowId): boolean =>
    of ? scope === of.scope && owner === of.id : !isOwned(scope)
  const { revision, token } = isShared ? current : noRevision
  const windows = isShared ? current.windows : []
  const versionOf = (change: RowChange, before: StoredRow | undefined): number =>
    isShared ? revision + 1 : Math.max((before?.revision ?? lastVersion(change)) + 1, at)
  const found = new Map<string, StoredRow | undefined>()
  for (const id of request.reads) found.set(rowIdText(id), undefined)
  for (const row of rows) if (found.has(rowIdText(row))) found.set(rowIdText(row), row)
  const changes: AppliedChange[] = []
  const get = (id: RowId) => found.get(rowIdText(id))
  for (const change of request.decide({ revision, token, get, lastVersion, at, windows })) {
    const name = rowIdText(change)
    const before = found.get(name)
    // Deleting the row answers false for a row that was not read and for one that was already changed.
    if (!found.delete(name) || !isToWrite(change))
      throw new Error(`"${change.key}" is not a row of this write, or is changed twice.`)
    checkStorable(change.value, change.key)
    if (!before && change.value === null) continue
    const { scope, owner, key } = change
    const version = versionOf(change, before)
    const after = rowAfter(change, version, at, request.actor)
    changes.push({ scope, owner, key, revision: version, before, after })
  }
  const result = { at, changes: changes.toSorted(compareRowIds) }
  if (!isShared) return { revision: 0, token: '', ...result }
  if (changes.length === 0) return { revision, token, ...result }
  return { revision: revision + 1, token: randomUUID().slice(0, 8), ...result }
}

/** The row of history that a change leaves. */
export function historyOf(change: AppliedChange, request: WriteRequest, result: WriteResult): HistoryRow {
  return {
    scope: change.scope,
    owner: change.owner,
    key: change.key,
    revision: change.revision,
    token: result.token,
    oldValue: change.before?.value ?? null,
    oldEncrypted: change.before?.encrypted ?? false,
    newValue: change.after?.value ?? null,
    newEncrypted: change.after?.encrypted ?? false,
    origin: request.origin,
    actor: request.actor,
    requestId: request.requestId ?? null,
    note: request.note ?? null,
    setSize: result.changes.length,
    at: result.at,
  }
}

// Members are named one by one here and above: spreading three objects into one makes V8 give up its fast layout, and a
// bulk a hundred times slower.
function rowAfter(
  change: RowChange,
  revision: number,
  at: number,
  actor: string | null,
): StoredRow | undefined {
  const { scope, owner, key, value, encrypted } = change
  if (value === null) return undefined
  return Object.freeze({ scope, owner, key, value, encrypted, revision, updatedAt: at, updatedBy: actor })
}
