/** Rows by name: their order, their identity, and which names a database can hold. */
import { ArgumentException } from '@fastify-modular/core'
import { SettingScope } from '../setting-definition.ts'
import type { RowId } from './store.ts'

/** Orders rows by scope, user and key: the order in which every store locks and writes them. */
export function compareRowIds(a: RowId, b: RowId): number {
  return a.scope - b.scope || compareText(a.userId, b.userId) || compareText(a.key, b.key)
}

/** One text per row, to look rows up in a Map. NUL cannot be part of a name, so no two rows share it. */
export function rowIdText(id: RowId): string {
  return `${id.scope}\0${id.userId}\0${id.key}`
}

/**
 * Whether both databases keep these texts as they are: PostgreSQL refuses NUL, and a lone surrogate becomes U+FFFD in UTF-8,
 * so that two different users would share a row.
 */
export function isStorable(...texts: readonly (string | null | undefined)[]): boolean {
  return !texts.some((text) => text && unstorable.test(text))
}

/** @throws {ArgumentException} when a write names this row but no database could keep it apart from others */
export function checkRowId(id: RowId): void {
  if ((id.scope === SettingScope.User) !== (id.userId !== '')) {
    throw new ArgumentException('A user id belongs to User scope and to no other.', 'userId')
  }
  checkStorable(id.userId, 'userId')
  checkStorable(id.key, 'key')
}

/** @throws {ArgumentException} when a text contains NUL or a lone surrogate */
export function checkStorable(text: string | null | undefined, name: string): void {
  if (!isStorable(text)) {
    throw new ArgumentException(`"${name}" contains characters that cannot be stored.`, name)
  }
}

// eslint-disable-next-line no-control-regex -- NUL is what this looks for
const unstorable = /[\0\ud800-\udfff]/u

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
