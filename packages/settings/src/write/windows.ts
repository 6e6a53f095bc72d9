/** What writes do to windows, under the lock of the write: they open one, settle one, or leave all alone. */
import { ArgumentException, ConflictException } from '@fastify-modular/core'
import { ChangeSettledException, UnkeptSettingsException } from '../exceptions.ts'
import type { CurrentRows, RowId, WriteResult } from '../store/store.ts'
import type { StoredWindow } from '../store/windows.ts'

/** The part of a write that concerns windows. */
export interface WindowHook {
  /** Called with the rows that the write changes, after it was found valid. Throws where it is refused. */
  check(current: CurrentRows, changed: readonly RowId[]): void
  /** The window to save in the transaction of the write. */
  save(result: WriteResult): StoredWindow | undefined
}

/** Seconds. */
const bounds = { least: 5, most: 86_400 }
/** Open windows, of all instances together. */
const mostOpen = 100

/** @throws {ArgumentException} it is not a number of seconds that a window may have */
export function requireSeconds(seconds: number, name: string): void {
  if (!Number.isInteger(seconds) || seconds < bounds.least || seconds > bounds.most)
    throw new ArgumentException(`Use ${bounds.least} to ${bounds.most} seconds.`, name)
}

/**
 * Opens a window of so many seconds, where the write changes something.
 * @throws {ArgumentException} it is not a number of seconds that a window may have
 */
export function opening(seconds: number): WindowHook {
  requireSeconds(seconds, 'confirmWithin')
  return {
    check(current, changed) {
      const open = new Set(current.windows.map(({ revision }) => revision))
      const taken = changed.filter((row) => open.has(versionOf(row, current)))
      const [first] = taken
      if (first)
        throw new UnkeptSettingsException(
          taken.map(({ key }) => key),
          versionOf(first, current),
        )
      if (changed.length > 0 && open.size >= mostOpen)
        throw new ConflictException(`${mostOpen} changes wait to be kept. Keep some of them first.`)
    },
    save({ revision, at, changes }) {
      if (changes.length === 0) return undefined
      return { revision, state: 'open', due: at + seconds * 1000, reasons: {} }
    },
  }
}

/** A row that is missing has the version of its removal. */
function versionOf(row: RowId, current: CurrentRows): number {
  return current.get(row)?.revision ?? current.lastVersion(row)
}

/**
 * Changes an open window: the compare and set of whoever keeps, extends or puts back.
 * @param next the window then; undefined leaves it as it is
 * @throws {ChangeSettledException} it is not open any more, or not due yet where that is asked for
 */
export function settling(
  revision: number,
  next: (window: StoredWindow, result: WriteResult) => StoredWindow | undefined,
  { ifDue = false } = {},
): WindowHook {
  let found: StoredWindow | undefined
  return {
    check({ windows, at }) {
      found = windows.find((window) => window.revision === revision)
      if (!found || (ifDue && found.due > at)) throw new ChangeSettledException(revision)
    },
    save: (result) => found && next(found, result),
  }
}
