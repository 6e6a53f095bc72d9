/** What the stores in SQL databases read: one set of statements for either engine, put together by drizzle. */
import { type SQL, sql } from 'drizzle-orm'
import { type OwnedScope, SettingScope } from '../setting-definition.ts'
import { toRevision } from './revision.ts'
import { plainHistory } from './schema.ts'
import { compareHistoryIds, countWithin } from './select-history.ts'
import {
  historyColumns,
  type SqlEngine,
  toHistoryRow,
  toStatement,
  toStoredRow,
  valueColumns,
} from './statements.ts'
import type { HistoryId, HistoryPlace, HistoryQuery, KeyCount, Owner, OwnerNews, RowId } from './store.ts'
import { dueOf, isOpenWindow, parseWindow, windowName } from './windows.ts'

/** Runs what drizzle has put together. */
function readQuery({ read }: SqlEngine, query: SQL) {
  return read(toStatement(query))
}

/** In one statement, so that the rows and the revision are of one moment. */
export async function readShared({ read, tables: { values, meta } }: SqlEngine) {
  // The scope is not a parameter: any scope would be a reason to read all rows.
  const text = `select m.value as last, ${valueColumns} from ${meta} m left join ${values} v on v.scope < 2
    where m.name = 'revision' order by v.scope, v.owner, v.key`
  const found = await read({ text, values: [], name: 'shared' })
  return {
    ...toRevision(found[0]?.['last']),
    rows: found.flatMap((row) => (row['key'] === null ? [] : toStoredRow(row))),
  }
}

export async function readOwned({ read, tables: { values } }: SqlEngine, { scope, id }: Owner) {
  const text = `select ${valueColumns} from ${values} v where v.scope = $1 and v.owner = $2
    order by v.scope, v.owner, v.key`
  return (await read({ text, values: [scope, id], name: 'owned' })).map(toStoredRow)
}

/** Where the database stands and what changed, in one statement. */
export async function readNews({ read, tables: { history, meta } }: SqlEngine, after: number, limit: number) {
  const text = `select m.value as last, (
      select min(value) from ${meta} where ${isOpenWindow}
    ) as open, (
      select k.token from ${history} k where k.scope < 2 and k.revision = $1 limit 1
    ) as known, changes.*
    from ${meta} m left join (
      select ${historyColumns} from ${history} h where h.scope < 2 and h.revision > $1
      order by h.revision desc, h.scope, h.key limit $2
    ) changes on true where m.name = 'revision'`
  const found = await read({ text, values: [after, limit], name: 'news' })
  const { last, known = null, open } = found[0] ?? {}
  return {
    ...toRevision(last),
    knownToken: known as string | null,
    due: dueOf(open as string | null | undefined),
    changes: found
      .flatMap((row) => (row['key'] === null ? [] : toHistoryRow(row)))
      .toSorted(compareHistoryIds),
  }
}

export async function readOwnerNews(
  { read, ownerNews }: SqlEngine,
  since: string | undefined,
  limit: number,
): Promise<OwnerNews> {
  const rows = (await read(ownerNews(since ?? null, limit))) as unknown as readonly NewsOfOwner[]
  const next = rows[0]?.next ?? '0'
  // A mark above all writes is that of another database.
  if (since !== undefined && BigInt(since) > BigInt(next))
    return { next, owners: [{ scope: SettingScope.User, id: '' }] }
  return {
    next,
    owners: rows.flatMap(({ scope, owner: id }) => (scope === null || id === null ? [] : { scope, id })),
  }
}

interface NewsOfOwner {
  readonly next: string
  readonly scope: OwnedScope | null
  readonly owner: string | null
}

export async function readHistory(engine: SqlEngine, query: HistoryQuery) {
  const history = sql.raw(engine.tables.history)
  const { limit, maxBytes } = query
  const selected = isSelected(engine, query)
  const order = sql.raw(
    (query.owner ?? '') === '' ? 'h.revision desc, h.scope, h.key' : 'h.at desc, h.revision desc, h.key desc',
  )
  /** Names first, which an index has: no text is read, or sorted, that is not on the page. */
  const select = (columns: string, count: number) =>
    readQuery(
      engine,
      sql`select ${sql.raw(columns)} from (
        select h.revision, h.scope, h.owner, h.key from ${history} h where ${selected} order by ${order} limit ${count}
      ) "name" join ${history} h
      on (h.revision, h.scope, h.owner, h.key) = ("name".revision, "name".scope, "name".owner, "name".key)
      order by ${order}`,
    )

  if (maxBytes === undefined) return (await select(historyColumns, limit)).map(toHistoryRow)
  // Then sizes, which read no text either.
  const bytes = 'coalesce(octet_length(h.old_value), 0) + coalesce(octet_length(h.new_value), 0) as bytes'
  const sizes = await select(bytes, limit)
  const count = countWithin(
    sizes.map((size) => Number(size['bytes'])),
    maxBytes,
  )
  return (await select(historyColumns, count)).map(toHistoryRow)
}

export async function scanValues(engine: SqlEngine, after: RowId | null, limit: number) {
  const isAfter = after
    ? sql`where (v.scope, v.owner, v.key) > (${after.scope}, ${after.owner}, ${after.key})`
    : sql``
  const found = await readQuery(
    engine,
    sql`select ${sql.raw(valueColumns)} from ${sql.raw(engine.tables.values)} v ${isAfter} order by v.scope, v.owner, v.key limit ${limit}`,
  )
  return found.map(toStoredRow)
}

export async function scanHistory(engine: SqlEngine, after: HistoryId | null, limit: number) {
  const isAfter = after
    ? sql`where (h.revision, h.scope, h.owner, h.key) > (${after.revision}, ${after.scope}, ${after.owner}, ${after.key})`
    : sql``
  const found = await readQuery(
    engine,
    sql`select ${sql.raw(historyColumns)} from ${sql.raw(engine.tables.history)} h ${isAfter}
      order by h.revision, h.scope, h.owner, h.key limit ${limit}`,
  )
  return found.map(toHistoryRow)
}

/** The condition of a query. What it says of the scope repeats the conditions of the partial indexes. */
function isSelected({ isAnyOf }: SqlEngine, query: HistoryQuery): SQL {
  const { owner = '', scope, key, revision, keys, actor, since, following } = query
  const conditions = [
    owner === '' ? sql`h.scope < 2` : sql`h.scope >= 2 and h.scope = ${scope ?? -1} and h.owner = ${owner}`,
    key !== undefined && sql`h.key = ${key}`,
    owner === '' && scope !== undefined && sql`h.scope = ${scope}`,
    revision !== undefined && sql`h.revision = ${revision}`,
    keys && isAnyOf('h.key', keys),
    actor !== undefined && sql`h.actor = ${actor}`,
    // The sign keeps the index of times out of it, which has all owners' entries.
    since !== undefined && sql`+h.at >= ${since}`,
    following && (owner === '' ? isFollowing(following) : isEarlier(following)),
  ]
  return sql.join(
    conditions.flatMap((condition) => condition || []),
    sql` and `,
  )
}

/** The bound on the revision repeats what the rest implies, for the index. */
function isFollowing({ revision, scope, key }: HistoryPlace): SQL {
  return sql`h.revision <= ${revision} and (h.revision < ${revision} or (h.scope, h.key) > (${scope}, ${key}))`
}

function isEarlier({ at, revision, key }: HistoryPlace): SQL {
  return sql`(h.at, h.revision, h.key) < (${at}, ${revision}, ${key})`
}

export async function readWindows(engine: SqlEngine, revision: number | undefined) {
  const isWanted = revision === undefined ? sql.raw(isOpenWindow) : sql`w.name = ${windowName(revision)}`
  const found = await readQuery(
    engine,
    sql`select ${sql.raw(engine.now())} as at, w.name, w.value
    from (select 1) as always left join ${sql.raw(engine.tables.meta)} w on ${isWanted} order by w.value`,
  )
  return {
    at: Number(found[0]?.['at']),
    windows: found.flatMap(({ name, value }) =>
      typeof name === 'string' && typeof value === 'string' ? parseWindow({ name, value }) : [],
    ),
  }
}

/** The keys that are stored, found by one look into the index for each; then the rows where those are not known. */
export async function readOrphans(
  engine: SqlEngine,
  known: readonly Pick<RowId, 'scope' | 'key'>[],
): Promise<readonly KeyCount[]> {
  const values = sql.raw(engine.tables.values)
  const names = known.map(({ scope, key }) => `${scope} ${key}`)
  const found = await readQuery(
    engine,
    sql`with recursive stored (key) as (
        select min(v.key) from ${values} v
        union all
        select (select min(v.key) from ${values} v where v.key > stored.key)
        from stored where stored.key is not null
      )
      select stored.key, scopes.scope, (
        select count(*) from ${values} v where v.key = stored.key and v.scope = scopes.scope
      ) as rows
      from stored cross join (select 0 as scope union all select 1 union all select 2 union all select 3) as scopes
      where not ${engine.isAnyOf(`(scopes.scope || ' ' || stored.key)`, names)} order by scopes.scope, stored.key`,
  )
  // PostgreSQL counts in texts.
  const counts = (found as unknown as readonly KeyCount[]).map((row) => ({ ...row, rows: Number(row.rows) }))
  return counts.filter(({ rows }) => rows > 0)
}

export async function readPlainKeys(engine: SqlEngine, keys: readonly string[]): Promise<readonly string[]> {
  const found = await readQuery(engine, findPlain(engine, keys))
  return found.map(({ key }) => key as string)
}

/** One look into the partial index for each key. */
export function findPlain(
  { tables, wanted }: Pick<SqlEngine, 'tables' | 'wanted'>,
  keys: readonly string[],
): SQL {
  return sql`select wanted.key from ${wanted(keys)}
    where exists (select 1 from ${sql.raw(tables.history)} where key = wanted.key and ${sql.raw(plainHistory)})`
}
