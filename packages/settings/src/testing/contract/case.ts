/** What the cases of the store contract share. */
import type { FastifyBaseLogger } from 'fastify'
import { SettingScope } from '../../setting-definition.ts'
import type { RowChange, RowId, SettingsStore, WriteRequest, WriteResult } from '../../store/store.ts'

/** One behaviour that every store has. It fails by throwing. */
export type ContractCase = (open: OpenStore) => Promise<void>

/** Opens one more instance on the database of this case; it is closed when the case ends. */
type OpenStore = () => Promise<SettingsStore>

/** Names a row; without a user it belongs to Application scope. */
export function rowId(key: string, userId = ''): RowId {
  return { scope: userId === '' ? SettingScope.Application : SettingScope.User, userId, key }
}

/** A change of one row; `null` deletes it. */
export function change(id: RowId, value: string | null, sealed = false): RowChange {
  return { ...id, value, sealed }
}

/** Writes these changes, whatever the rows hold now. */
export function writeAll(
  store: SettingsStore,
  changes: readonly RowChange[],
  more: Partial<WriteRequest> = {},
): Promise<WriteResult> {
  return store.write({ actor: 'tester', origin: 'contract', reads: changes, decide: () => changes, ...more })
}

/** Sets one Application value. */
export function set(store: SettingsStore, key: string, value: string): Promise<WriteResult> {
  return writeAll(store, [change(rowId(key), value)])
}

/** The number of the last write. */
export async function revisionOf(store: SettingsStore): Promise<number> {
  return (await store.readState(0)).revision
}

/** Waits until something is true, at most a minute. @throws when it never is */
export async function until(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000
  while (!(await isTrue())) {
    if (Date.now() > end) throw new Error(`waited a minute for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** A log that drops everything. */
export const silentLog: FastifyBaseLogger = {
  level: 'silent',
  silent: () => {},
  trace: () => {},
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  fatal: () => {},
  child: () => silentLog,
}
