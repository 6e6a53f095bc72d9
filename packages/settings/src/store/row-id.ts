/** Rows by name: their order, their identity, and which names a database can hold. */
import { ArgumentException } from '@fastify-modular/core'
import { isStorable, SettingScope } from '../setting-definition.ts'
import type { HistoryRow, RowId, StoredRow } from './store.ts'

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
    a.sealed === b.sealed &&
    a.updatedAt === b.updatedAt &&
    a.updatedBy === b.updatedBy
  )
}

/** One text per row, to look rows up in a Map. NUL cannot be part of a name, so no two rows share it. */
export function rowIdText(id: RowId): string {
  return `${id.scope}\0${id.userId}\0${id.key}`
}

/** Bytes of the text that an entry of history keeps. */
export function textBytes({ oldValue, newValue }: HistoryRow): number {
  return Buffer.byteLength(oldValue ?? '') + Buffer.byteLength(newValue ?? '')
}

/** Whether rows with these names can exist; a database would refuse other names, or find rows of another name. */
export function canExist(...names: readonly (string | undefined)[]): boolean {
  return names.every((name) => name === undefined || isStorable(name))
}

/** @throws {ArgumentException} no database could tell this row from others */
export function checkRowId(id: RowId): void {
  if ((id.scope === SettingScope.User) !== (id.userId !== '')) {
    throw new ArgumentException('A user id belongs to User scope and to no other.', 'userId')
  }
  checkStorable(id.userId, 'userId')
  checkStorable(id.key, 'key')
}

/** @throws {ArgumentException} when a text contains NUL or a lone surrogate */
export function checkStorable(text: string | null | undefined, name: string): void {
  if (text && !isStorable(text)) {
    throw new ArgumentException(`"${name}" contains characters that cannot be stored.`, name)
  }
}

/** Orders texts by their UTF-16 code units. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
