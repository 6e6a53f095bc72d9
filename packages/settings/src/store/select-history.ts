/** Rows in memory: the orders of the history, and what a query or a scan selects. */
import { isOwned } from '../setting-definition.ts'
import { compareRowIds, compareText } from './plan-write.ts'
import type { HistoryId, HistoryPlace, HistoryQuery, HistoryRow } from './store.ts'

/** Returns what a query selects of the whole history, newest first. For stores whose database cannot do it. */
export function selectHistory(history: readonly HistoryRow[], query: HistoryQuery): readonly HistoryRow[] {
  const order = (query.owner ?? '') === '' ? newestFirst : latestFirst
  const page = history
    .filter((row) => isSelected(row, query))
    .toSorted(order)
    .slice(0, query.limit)
  return page.slice(0, countWithin(page.map(textBytes), query.maxBytes ?? Infinity))
}

/** Returns a page of a scan of all rows. For stores whose database cannot do it. */
export function selectPage<Row extends Place, Place>(
  rows: readonly Row[],
  order: (a: Place, b: Place) => number,
  after: Place | null,
  limit: number,
): readonly Row[] {
  return rows
    .filter((row) => after === null || order(row, after) > 0)
    .toSorted(order)
    .slice(0, limit)
}

/** The order of System and Application history: newest revision first, the entries of one revision by row. */
function newestFirst(a: HistoryId, b: HistoryId): number {
  return b.revision - a.revision || compareRowIds(a, b)
}

/** The order of one owner's history: by time and version. */
function latestFirst(a: HistoryPlace, b: HistoryPlace): number {
  return b.at - a.at || b.revision - a.revision || compareText(b.key, a.key)
}

/** The order of a scan: oldest revision first, the entries of one revision by row. */
export function compareHistoryIds(a: HistoryId, b: HistoryId): number {
  return a.revision - b.revision || compareRowIds(a, b)
}

function isSelected(row: HistoryRow, query: HistoryQuery): boolean {
  const { owner = '' } = query
  return (
    row.owner === owner &&
    isOwned(row.scope) === (owner !== '') &&
    (owner === '' || row.scope === query.scope) &&
    (query.key === undefined || row.key === query.key) &&
    (query.scope === undefined || row.scope === query.scope) &&
    (query.revision === undefined || row.revision === query.revision) &&
    (query.keys === undefined || query.keys.includes(row.key)) &&
    (query.actor === undefined || row.actor === query.actor) &&
    (query.since === undefined || row.at >= query.since) &&
    (query.following === undefined || (owner === '' ? newestFirst : latestFirst)(row, query.following) > 0)
  )
}

/** How many of the first entries of a page have at most so many bytes together, but one at least. */
export function countWithin(sizes: readonly number[], maxBytes: number): number {
  let bytes = 0
  const end = sizes.findIndex((size, index) => {
    bytes += size
    return index > 0 && bytes > maxBytes
  })
  return end === -1 ? sizes.length : end
}

/** Bytes of the text that an entry of history keeps. */
function textBytes({ oldValue, newValue }: HistoryRow): number {
  return Buffer.byteLength(oldValue ?? '') + Buffer.byteLength(newValue ?? '')
}
