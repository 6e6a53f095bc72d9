/** Conditions and orders of the reads, on the columns of either engine. */
import { and, asc, type Column, desc, eq, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import type { HistoryId, HistoryPlace, HistoryQuery, RowId } from './store.ts'

/** The columns that identify a row. */
interface RowColumns {
  readonly scope: Column
  readonly userId: Column
  readonly key: Column
}

/** The columns that identify an entry of history. */
interface HistoryColumns extends RowColumns {
  readonly revision: Column
  readonly actor: Column
  readonly at: Column
}

/** By scope, user and key. */
export function inRowOrder({ scope, userId, key }: RowColumns): SQL[] {
  return [asc(scope), asc(userId), asc(key)]
}

/** Oldest revision first, the entries of one revision by row. */
export function oldestFirst(history: HistoryColumns): SQL[] {
  return [asc(history.revision), ...inRowOrder(history)]
}

/** The order of a query: users' entries by time and version, all others by revision, those of one revision by row. */
export function newestFirst(history: HistoryColumns, { userId = '' }: HistoryQuery): SQL[] {
  return userId === ''
    ? [desc(history.revision), asc(history.scope), asc(history.key)]
    : [desc(history.at), desc(history.revision), desc(history.key)]
}

/** Whether a row identifies as the placeholders `scope`, `userId` and `key`. */
export function isNamedRow({ scope, userId, key }: RowColumns): SQL | undefined {
  return and(
    eq(scope, sql.placeholder('scope')),
    eq(userId, sql.placeholder('userId')),
    eq(key, sql.placeholder('key')),
  )
}

/** Whether a row has one of these ids; none without any. */
export function isOneOf({ scope, userId, key }: RowColumns, ids: readonly RowId[]): SQL | undefined {
  if (ids.length === 0) return sql`1 = 0`
  return or(...ids.map((id) => and(eq(scope, id.scope), eq(userId, id.userId), eq(key, id.key))))
}

/** The next rows of a scan; all without `after`. */
export function isAfter({ scope, userId, key }: RowColumns, after: RowId | null): SQL | undefined {
  return after === null
    ? undefined
    : sql`(${scope}, ${userId}, ${key}) > (${after.scope}, ${after.userId}, ${after.key})`
}

/** The next entries of a scan; all without `after`. */
export function isAfterEntry(
  { revision, scope, userId, key }: HistoryColumns,
  after: HistoryId | null,
): SQL | undefined {
  return after === null
    ? undefined
    : sql`(${revision}, ${scope}, ${userId}, ${key}) > (${after.revision}, ${after.scope}, ${after.userId}, ${after.key})`
}

/**
 * The entries that a query selects. Conditions on the scope repeat those of the partial indexes.
 * @param isAnyOf whether a column has one of these texts, of which there may be more than a statement has parameters
 */
export function isSelected(
  history: HistoryColumns,
  query: HistoryQuery,
  isAnyOf: (column: Column, texts: readonly string[]) => SQL,
): SQL | undefined {
  const { userId = '', following } = query
  return and(
    userId === '' ? sql`${history.scope} < 2` : and(eq(history.userId, userId), sql`${history.scope} = 2`),
    query.key === undefined ? undefined : eq(history.key, query.key),
    query.scope === undefined ? undefined : eq(history.scope, query.scope),
    query.revision === undefined ? undefined : eq(history.revision, query.revision),
    query.keys && isAnyOf(history.key, query.keys),
    query.actor === undefined ? undefined : eq(history.actor, query.actor),
    // The sign keeps the index of times out of it, which has all users' entries.
    query.since === undefined ? undefined : sql`+${history.at} >= ${query.since}`,
    query.before === undefined ? undefined : lt(history.revision, query.before),
    following && (userId === '' ? isFollowing(history, following) : isEarlier(history, following)),
  )
}

/** The bound on the revision repeats what the rest implies, for the index. */
function isFollowing(history: HistoryColumns, entry: HistoryPlace): SQL | undefined {
  return and(
    lte(history.revision, entry.revision),
    or(
      lt(history.revision, entry.revision),
      sql`(${history.scope}, ${history.key}) > (${entry.scope}, ${entry.key})`,
    ),
  )
}

function isEarlier({ at, revision, key }: HistoryColumns, entry: HistoryPlace): SQL {
  return sql`(${at}, ${revision}, ${key}) < (${entry.at}, ${entry.revision}, ${entry.key})`
}
