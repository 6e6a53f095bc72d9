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

/** What all names of windows are like. */
export const anyWindow = `${prefix}%`

/** What the values of open windows are like; the least one is due first. */
export const openWindow = 'open %'

/** So many revisions later a window that is not open is forgotten. */
const remembered = 10_000

export function windowName(revision: number): string {
  return prefix + String(Math.max(0, revision)).padStart(16, '0')
}

/** The name below which windows that are not open are forgotten when this one is saved. */
export function forgottenBelow({ revision }: StoredWindow): string {
  return windowName(revision - remembered)
}

export function windowText({ state, due, reasons }: StoredWindow): string {
  return `${state} ${String(due).padStart(16, '0')} ${JSON.stringify(reasons)}`
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
    state: state as WindowState, // written by `windowText`
    due: Number(due),
    reasons: JSON.parse(reasons) as StoredWindow['reasons'],
  }
}
