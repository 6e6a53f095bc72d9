/** What the PostgreSQL store reads; statements with a name are prepared once per connection. */
import { and, type Column, eq, getTableColumns, lte, or, type SQL, sql } from 'drizzle-orm'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import { SettingScope } from '../../setting-definition.ts'
import {
  inRowOrder,
  isAfter,
  isAfterEntry,
  isNamedRow,
  isOneOf,
  isSelected,
  newestFirst,
  oldestFirst,
} from '../read-conditions.ts'
import { noRevision, parseRevision } from '../revision.ts'
import type { SqlReads } from '../sql-store.ts'
import type { HistoryQuery } from '../store.ts'
import { plainHistory } from './migrations.ts'
import type { PostgresNames } from './names.ts'
import type { PostgresTables } from './tables.ts'

/** Prepares the reads. */
export function prepareReads(
  db: NodePgDatabase,
  tables: PostgresTables,
  { statement }: PostgresNames,
): SqlReads {
  const { values, history } = tables
  const inOrder = inRowOrder(values)
  const entryColumns = columnsOf(history)
  const row = db.select().from(values).where(isNamedRow(values)).prepare(statement('row'))
  const user = db
    .select()
    .from(values)
    .where(and(eq(values.scope, SettingScope.User), eq(values.userId, sql.placeholder('userId'))))
    .orderBy(...inOrder)
    .prepare(statement('user'))

  return {
    shared: prepareShared(db, tables, statement('shared')),
    user: (userId, key) =>
      key === undefined ? user.execute({ userId }) : row.execute({ scope: SettingScope.User, userId, key }),
    news: prepareNews(db, tables, statement('news')),
    userNews: async (since, limit) => {
      const found = await db.execute<{ next: string; user_id: string | null }>(
        findUserNews(history, since ?? null, limit),
      )
      const next = found.rows[0]?.next ?? '0'
      // A mark above all transactions is that of a server which was there before this one.
      if (since !== undefined && BigInt(since) > BigInt(next)) return { next, userIds: [''] }
      return { next, userIds: found.rows.flatMap(({ user_id: userId }) => userId ?? []) }
    },
    history: (query) => historyQuery(db, history, query).execute(),
    scan: (after, limit) =>
      db
        .select()
        .from(values)
        .where(isAfter(values, after))
        .orderBy(...inOrder)
        .limit(limit)
        .execute(),
    scanHistory: (after, limit) =>
      db
        .select(entryColumns)
        .from(history)
        .where(isAfterEntry(history, after))
        .orderBy(...oldestFirst(history))
        .limit(limit)
        .execute(),
    countOthers: async (keys) => {
      const found = await db.execute<{ key: string; scope: SettingScope; rows: string }>(
        findOthers(values, keys),
      )
      return found.rows.map(({ key, scope, rows }) => ({ key, scope, rows: Number(rows) }))
    },
    plainHistory: async (keys) => {
      const found = await db.execute<{ key: string }>(findPlain(history, keys))
      return found.rows.map(({ key }) => key)
    },
  }
}

function prepareShared(
  db: NodePgDatabase,
  { values, meta }: PostgresTables,
  name: string,
): SqlReads['shared'] {
  // One statement, so that the rows and the revision are of one moment.
  const sharedWhere = (isWanted?: SQL) =>
    db
      .select({ revision: meta.value, row: values })
      .from(meta)
      .leftJoin(values, and(sql`${values.scope} < 2`, isWanted)) // not a parameter: any scope would be a reason to read all rows
      .where(eq(meta.name, 'revision'))
      .orderBy(...inRowOrder(values))
  const shared = sharedWhere().prepare(name)
  return async (ids) => {
    const found = await (ids ? sharedWhere(isOneOf(values, ids)) : shared).execute()
    return {
      ...(parseRevision(found[0]?.revision) ?? noRevision),
      rows: found.flatMap(({ row }) => row ?? []),
    }
  }
}

/** Where the database stands and what changed, in one statement. */
function prepareNews(db: NodePgDatabase, { history, meta }: PostgresTables, name: string): SqlReads['news'] {
  const changes = db
    .select(columnsOf(history))
    .from(history)
    .where(sql`${history.scope} < 2 and ${history.revision} > ${sql.placeholder('after')}`)
    .orderBy(sql`${history.revision} desc`, history.scope, history.key)
    .limit(sql.placeholder('limit'))
    .as('changes')
  const news = db
    .select({
      revision: meta.value,
      knownToken: sql<string | null>`(select ${history.token} from ${history}
        where ${history.scope} < 2 and ${history.revision} = ${sql.placeholder('after')} limit 1)`,
      change: {
        revision: changes.revision,
        token: changes.token,
        scope: changes.scope,
        userId: changes.userId,
        key: changes.key,
        oldValue: changes.oldValue,
        oldEncrypted: changes.oldEncrypted,
        newValue: changes.newValue,
        newEncrypted: changes.newEncrypted,
        origin: changes.origin,
        actor: changes.actor,
        requestId: changes.requestId,
        note: changes.note,
        setSize: changes.setSize,
        at: changes.at,
      },
    })
    .from(meta)
    .leftJoin(changes, sql`true`)
    .where(eq(meta.name, 'revision'))
    .prepare(name)
  return async (query) => {
    const found = await news.execute({ ...query })
    const entries = found.flatMap(({ change }) => change ?? []).toReversed()
    const [last] = found
    return {
      ...(parseRevision(last?.revision) ?? noRevision),
      knownToken: last?.knownToken ?? null,
      changes: entries,
    }
  }
}

function columnsOf(history: PostgresTables['history']) {
  const { xid: _, ...columns } = getTableColumns(history)
  return columns
}

/** One look into the partial index for each key. */
export function findPlain(history: PostgresTables['history'], keys: readonly string[]): SQL {
  return sql`select wanted.key from unnest(${sql.param(keys)}::text[]) as wanted (key)
    where exists (select 1 from ${history} where ${history.key} = wanted.key and ${sql.raw(plainHistory)})`
}

/** The keys that are stored, found by one look into the index for each; then the rows of those that are not known. */
function findOthers(values: PostgresTables['values'], keys: readonly string[]): SQL {
  return sql`with recursive stored (key) as (
      (select ${values.key} from ${values} order by ${values.key} limit 1)
      union all
      select (select ${values.key} from ${values} where ${values.key} > stored.key order by ${values.key} limit 1)
      from stored where stored.key is not null
    )
    select stored.key, other.scope, other.rows from stored cross join lateral (
      select ${values.scope} as scope, count(*) as rows from ${values}
      where ${values.key} = stored.key group by ${values.scope}
    ) as other
    where stored.key <> all (${sql.param(keys)}::text[]) order by other.scope, stored.key`
}

/**
 * Transactions below `next` had ended when the statement began; whatever was open then is read the next time. A database
 * that was restored elsewhere has entries of transactions that are still to come: they are left out.
 */
function findUserNews(history: PostgresTables['history'], since: string | null, limit: number): SQL {
  return sql`select pg_snapshot_xmin(pg_current_snapshot())::text as next, news.user_id
    from (select) as always left join (
      select distinct ${history.userId} as user_id from ${history} where ${history.scope} = 2
        and ${history.xid} >= ${since}::xid8 and ${history.xid} < pg_snapshot_xmax(pg_current_snapshot())
      limit ${limit}
    ) as news on true`
}

function isAnyOf(column: Column, texts: readonly string[]): SQL {
  return sql`${column} = any (${sql.param(texts)}::text[])`
}

function historyQuery(db: NodePgDatabase, history: PostgresTables['history'], query: HistoryQuery) {
  const order = newestFirst(history, query)
  const selected = isSelected(history, query, isAnyOf)
  const { limit, maxBytes } = query
  const columns = columnsOf(history)
  if (maxBytes === undefined)
    return db
      .select(columns)
      .from(history)
      .where(selected)
      .orderBy(...order)
      .limit(limit)
  // Sizes first, which read no text: what is beyond the bytes is never fetched.
  const { revision, scope, userId, key, oldValue, newValue } = history
  const bytes = sql<number>`coalesce(octet_length(${oldValue}), 0) + coalesce(octet_length(${newValue}), 0)`
  const sized = db
    .select({
      revision,
      scope,
      userId,
      key,
      bytes: bytes.as('bytes'),
      place: sql<number>`row_number() over (order by ${sql.join(order, sql`, `)})`.as('place'),
    })
    .from(history)
    .where(selected)
    .orderBy(...order)
    .limit(limit)
    .as('sized')
  const summed = db
    .select({
      revision: sized.revision,
      scope: sized.scope,
      userId: sized.userId,
      key: sized.key,
      place: sized.place,
      total: sql<number>`sum(${sized.bytes}) over (order by ${sized.place})`.as('total'),
    })
    .from(sized)
    .as('summed')
  return db
    .select(columns)
    .from(summed)
    .innerJoin(
      history,
      and(
        eq(revision, summed.revision),
        eq(scope, summed.scope),
        eq(userId, summed.userId),
        eq(key, summed.key),
      ),
    )
    .where(or(lte(summed.total, maxBytes), eq(summed.place, 1)))
    .orderBy(...order)
}
