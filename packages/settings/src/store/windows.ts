/** Change sets that are put back unless they are kept in time, as the databases have them: rows of the table of counters. */

/** What became of a change set. */
type WindowState = 'open' | 'kept' | 'put-back' | 'conflicted'

/** A change set that has to be kept. Who made it stands in its history. */
export interface StoredWindow {
  readonly revision: number
  readonly state: WindowState
  /** When it is put back; milliseconds since the epoch, by the clock of the database. */
  readonly due: number
  /** Why keys were not put back. */
  readonly reasons: Readonly<Record<string, string>>
}

const prefix = 'window:'

/** Selects the open windows, as a condition of SQL: the least value is due first. */
export const isOpenWindow = `name like '${prefix}%' and value like 'open %'`

/** Selects the others. */
export const isSettledWindow = `name like '${prefix}%' and value not like 'open %'`

/** So many revisions later a window that is not open is forgotten. */
const remembered = 10_000

export function windowName(revision: number): string {
  return prefix + String(Math.max(0, revision)).padStart(16, '0')
}

/** What is saved of a window: its name and its value, then the name below which settled ones are forgotten. */
export function windowColumns({ revision, state, due, reasons }: StoredWindow): [string, string, string] {
  const value = `${state} ${String(due).padStart(16, '0')} ${JSON.stringify(reasons)}`
  return [windowName(revision), value, windowName(revision - remembered)]
}

/** When the first of open windows is due, by its text. */
export function dueOf(text: string | null | undefined): number | null {
  return text ? Number(text.split(' ', 2)[1]) : null
}

export function parseWindow({
  name,
  value,
}: {
  readonly name: string
  readonly value: string
}): StoredWindow {
  const [, state = '', due = '', reasons = '{}'] = /^(\S+) (\d+) (.*)$/s.exec(value) ?? []
  return {
    revision: Number(name.slice(prefix.length)),
    state: state as WindowState, // written by `windowColumns`
    due: Number(due),
    reasons: JSON.parse(reasons) as StoredWindow['reasons'],
  }
}
