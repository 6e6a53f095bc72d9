/** Rows by name, and what a write does, decided before a store touches anything. The same for every store. */
import { randomUUID } from 'node:crypto'
import { ArgumentException } from '@fastify-modular/core'
import { FMOD_SETTINGS_INVALID_WRITE } from '../misuse-errors.ts'
import { isStorable, SettingScope } from '../setting-definition.ts'
import { noRevision, type Revision } from './revision.ts'
import type {
  AppliedChange,
  HistoryRow,
  RowChange,
  RowId,
  StoredRow,
  WriteRequest,
  WriteResult,
} from './store.ts'

/** Orders rows by scope, user and key: the order in which every store locks and writes them. */
export function compareRowIds(a: RowId, b: RowId): number {
  return a.scope - b.scope || compareText(a.userId, b.userId) || compareText(a.key, b.key)
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
  return `${id.scope}\0${id.userId}\0${id.key}`
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
  if ((id.scope === SettingScope.User) !== (id.userId !== '')) {
    throw new ArgumentException('A user id belongs to User scope and to no other.', 'userId')
  }
  checkStorable(id.userId, 'userId')
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
 * @throws {ArgumentException} a user id outside of User scope, User scope without one, NUL or a lone surrogate in a name or note
 */
export function checkWrite(request: WriteRequest): void {
  for (const id of request.reads) checkRowId(id)
  for (const name of ['actor', 'origin', 'requestId', 'note'] as const) checkStorable(request[name], name)
}

/** What a write finds under its lock; one of users' rows nothing else. */
export interface Found {
  /** Milliseconds since the epoch, by the clock of the database. */
  readonly at: number
  /** At least those that the request reads. */
  readonly rows: Iterable<StoredRow>
  /** Of a value without a row: the version of its newest entry of history, or 0. */
  lastVersion(id: RowId): number
}

/** For a write of System and Application rows: the last such write. */
export interface FoundShared extends Found, Revision {}

/**
 * Lets the request decide and returns what to write: the changes in the order of their rows, with their versions, without
 * deletions of unset rows. Call it under the lock, and write the result before the lock ends.
 * @throws {FMOD_SETTINGS_INVALID_WRITE} two changes of one row, a change of a row that was not read, or of one that belongs
 * to another kind of write
 */
export function planWrite(request: WriteRequest, current: FoundShared | Found): WriteResult {
  const { at, rows, lastVersion } = current
  const isShared = 'revision' in current
  const { revision, token } = isShared ? current : noRevision
  const versionOf = (change: RowChange, before: StoredRow | undefined): number =>
    isShared ? revision + 1 : Math.max((before?.revision ?? lastVersion(change)) + 1, at)
  const found = new Map<string, StoredRow | undefined>()
  for (const id of request.reads) found.set(rowIdText(id), undefined)
  for (const row of rows) if (found.has(rowIdText(row))) found.set(rowIdText(row), row)
  const changes: AppliedChange[] = []
  const get = (id: RowId) => found.get(rowIdText(id))
  for (const change of request.decide({ revision, token, get, lastVersion })) {
    const name = rowIdText(change)
    const before = found.get(name)
    // Deleting the row answers false for a row that was not read and for one that was already changed.
    if (!found.delete(name) || (change.scope === SettingScope.User) === isShared)
      throw new FMOD_SETTINGS_INVALID_WRITE(change.key)
    checkStorable(change.value, change.key)
    if (!before && change.value === null) continue
    const { scope, userId, key } = change
    const version = versionOf(change, before)
    const after = rowAfter(change, version, at, request.actor)
    changes.push({ scope, userId, key, revision: version, before, after })
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
    userId: change.userId,
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
  const { scope, userId, key, value, encrypted } = change
  if (value === null) return undefined
  return Object.freeze({ scope, userId, key, value, encrypted, revision, updatedAt: at, updatedBy: actor })
}
