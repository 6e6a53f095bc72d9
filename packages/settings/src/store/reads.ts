/** What the stores in SQL databases read: one set of statements, made by drizzle for either engine. */
import { and, asc, type Column, desc, eq, lt, lte, or, type SQL, sql, type SQLWrapper } from 'drizzle-orm'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import { type OwnedScope, SettingScope } from '../setting-definition.ts'
import type { PostgresTables } from './postgres-tables.ts'
import { noRevision, parseRevision } from './revision.ts'
import { plainHistory } from './schema.ts'
import { anyWindow, dueOf, openWindow, parseWindow, windowName } from './windows.ts'
import { compareHistoryIds, countWithin } from './select-history.ts'
import type {
  HistoryPlace,
  HistoryQuery,
  KeyCount,
  Scanned,
  Owner,
  OwnerNews,
  Survey,
  SurveyQuery,
} from './store.ts'

/** What differs between the engines. drizzle gives both the same methods under other types: here stand those of PostgreSQL. */
export interface ReadEngine {
  readonly db: Pick<NodePgDatabase, 'select'>
  readonly tables: PostgresTables
  /** The columns of an entry of history. */
  readonly entry: Omit<PostgresTables['history']['_']['columns'], 'xid'>
  /** Runs a statement that drizzle has no words for; returns its rows by the names of their columns. */
  readonly run: (statement: SQL) => Promise<readonly object[]>
  /** The time in milliseconds, as SQL. */
  readonly now: () => string
  /** The name of a prepared statement. */
  readonly statement: (name: string) => string
  /** Texts as a table `wanted` with the column `key`; they are one parameter, since there may be many. */
  readonly wanted: (texts: readonly string[]) => SQL
  /** Whether a column has one of these texts. */
  readonly isAnyOf: (column: SQLWrapper, texts: readonly string[]) => SQL
  /** Selects the mark `next` with each `scope` and `owner` that was written since a mark, or none. */
  readonly ownerNews: (since: string | null, limit: number) => SQL
}

/** Reads of an open database. Names were checked: a row can have them. */
export type SqlReads = ReturnType<typeof prepareReads>

/** Prepares the reads on a database whose tables exist. */
export function prepareReads(engine: ReadEngine) {
  const { db, tables, run, statement } = engine
  const { values } = tables
  const owned = db
    .select()
    .from(values)
    .where(and(eq(values.scope, sql.placeholder('scope')), eq(values.owner, sql.placeholder('id'))))
    .orderBy(...inRowOrder(values))
    .prepare(statement('owned'))

  return {
    shared: prepareShared(engine),
    news: prepareNews(engine),
    owned: async ({ scope, id }: Owner) => owned.execute({ scope, id }),
    ownerNews: async (since: string | undefined, limit: number): Promise<OwnerNews> => {
      const rows = (await run(engine.ownerNews(since ?? null, limit))) as readonly NewsOfOwner[]
      const next = rows[0]?.next ?? '0'
      // A mark above all writes is that of another database.
      if (since !== undefined && BigInt(since) > BigInt(next))
        return { next, owners: [{ scope: SettingScope.User, id: '' }] }
      return {
        next,
        owners: rows.flatMap(({ scope, owner: id }) => (scope === null || id === null ? [] : { scope, id })),
      }
    },
    history: (query: HistoryQuery) => readHistory(engine, query),
    scan: scans(engine),
    windows: async (revision?: number) => {
      const { meta } = tables
      const isWanted =
        revision === undefined
          ? sql`${meta.name} like ${anyWindow} and ${meta.value} like ${openWindow}`
          : sql`${meta.name} = ${windowName(revision)}`
      const rows =
        await run(sql`select ${sql.raw(engine.now())} as at, ${meta.name} as name, ${meta.value} as value
        from (select 1) as always left join ${meta} on ${isWanted} order by ${meta.value}`)
      const found = rows as readonly { at: number | string; name: string | null; value: string | null }[]
      return {
        at: Number(found[0]?.at),
        windows: found.flatMap(({ name, value }) =>
          name === null || value === null ? [] : parseWindow({ name, value }),
        ),
      }
    },
    survey: async ({ known, secret }: SurveyQuery): Promise<Survey> => {
      const others = known ? ((await run(findOthers(engine, known))) as readonly KeyCount[]) : []
      const plain = secret ? ((await run(findPlain(engine, secret))) as readonly { key: string }[]) : []
      return {
        // PostgreSQL counts in texts.
        orphans: others
          .map((count) => ({ ...count, rows: Number(count.rows) }))
          .filter(({ rows }) => rows > 0),
        plain: plain.map(({ key }) => key),
      }
    },
  }
}

interface NewsOfOwner {
  readonly next: string
  readonly scope: OwnedScope | null
  readonly owner: string | null
}

/** In one statement, so that the rows and the revision are of one moment. */
function prepareShared({ db, tables: { values, meta }, statement }: ReadEngine) {
  const shared = db
    .select({ revision: meta.value, row: values })
    .from(meta)
    .leftJoin(values, sql`${values.scope} < 2`) // not a parameter: any scope would be a reason to read all rows
    .where(eq(meta.name, 'revision'))
    .orderBy(...inRowOrder(values))
    .prepare(statement('shared'))
  return async () => {
    const found = await shared.execute()
    return {
      ...(parseRevision(found[0]?.revision) ?? noRevision),
      rows: found.flatMap(({ row }) => row ?? []),
    }
  }
}

/** Where the database stands and what changed, in one statement. */
function prepareNews({ db, tables: { history, meta }, entry, statement }: ReadEngine) {
  const changes = db
    .select(entry)
    .from(history)
    .where(sql`${history.scope} < 2 and ${history.revision} > ${sql.placeholder('after')}`)
    .orderBy(sql`${history.revision} desc`, history.scope, history.key)
    .limit(sql.placeholder('limit'))
    .as('changes')
  const news = db
    .select({
      revision: meta.value,
      open: sql<
        string | null
      >`(select min(w.value) from ${meta} w where w.name like ${sql.raw(`'${anyWindow}'`)} and w.value like ${sql.raw(`'${openWindow}'`)})`,
      knownToken: sql<string | null>`(select ${history.token} from ${history}
        where ${history.scope} < 2 and ${history.revision} = ${sql.placeholder('after')} limit 1)`,
      change: { ...changes._.selectedFields },
    })
    .from(meta)
    .leftJoin(changes, sql`true`)
    .where(eq(meta.name, 'revision'))
    .prepare(statement('news'))
  return async (after: number, limit: number) => {
    const found = await news.execute({ after, limit })
    const entries = found.flatMap((row) => row.change ?? []).toSorted(compareHistoryIds)
    const [last] = found
    const revision = parseRevision(last?.revision) ?? noRevision
    return { ...revision, knownToken: last?.knownToken ?? null, due: dueOf(last?.open), changes: entries }
  }
}

async function readHistory(engine: ReadEngine, query: HistoryQuery) {
  const { db, entry } = engine
  const { history } = engine.tables
  const { revision, scope, owner, key, oldValue, newValue } = history
  const { limit, maxBytes } = query
  const selected = isSelected(engine, query)
  const order = newestFirst(history, query.owner)

  /** Names first, which an index has: no text is read, or sorted, that is not on the page. */
  const names = (count: number) =>
    db
      .select({ revision, scope, owner, key })
      .from(history)
      .where(selected)
      .orderBy(...order)
      .limit(count)
      .as('name')
  const isNamed = (name: ReturnType<typeof names>) =>
    sql`${listOf([revision, scope, owner, key])} = ${listOf([name.revision, name.scope, name.owner, name.key])}`

  let count = limit
  if (maxBytes !== undefined) {
    // Then sizes, which read no text either.
    const bytes = sql<number>`coalesce(octet_length(${oldValue}), 0) + coalesce(octet_length(${newValue}), 0)`
    const name = names(limit)
    const sizes = await db
      .select({ bytes })
      .from(name)
      .innerJoin(history, isNamed(name))
      .orderBy(...order)
    count = countWithin(
      sizes.map((size) => size.bytes),
      maxBytes,
    )
  }
  const name = names(count)
  return db
    .select(entry)
    .from(name)
    .innerJoin(history, isNamed(name))
    .orderBy(...order)
}

type Scans = {
  readonly [W in keyof Scanned]: (
    after: Scanned[W]['place'] | null,
    limit: number,
  ) => Promise<readonly Scanned[W]['row'][]>
}

function scans({ db, tables: { values, history }, entry }: ReadEngine): Scans {
  const row = [values.scope, values.owner, values.key]
  const place = [history.revision, history.scope, history.owner, history.key]
  return {
    values: async (after, limit) =>
      db
        .select()
        .from(values)
        .where(after ? isBeyond(row, [after.scope, after.owner, after.key]) : undefined)
        .orderBy(...row)
        .limit(limit),
    history: async (after, limit) =>
      db
        .select(entry)
        .from(history)
        .where(after ? isBeyond(place, [after.revision, after.scope, after.owner, after.key]) : undefined)
        .orderBy(...place)
        .limit(limit),
  }
}

/** Whether columns, compared one after the other, are greater than these. */
function isBeyond(columns: readonly Column[], values: readonly unknown[]): SQL {
  return sql`${listOf(columns)} > ${listOf(values)}`
}

function listOf(members: readonly unknown[]): SQL {
  return sql`(${sql.join(
    members.map((member) => sql`${member}`),
    sql`, `,
  )})`
}

/** By scope, owner and key. */
function inRowOrder({ scope, owner, key }: PostgresTables['values']): SQL[] {
  return [asc(scope), asc(owner), asc(key)]
}

/** The entries that a query selects. Conditions on the scope repeat those of the partial indexes. */
function isSelected({ tables: { history }, isAnyOf }: ReadEngine, query: HistoryQuery): SQL | undefined {
  const { owner = '', scope, following } = query
  return and(
    owner === '' ? sql`${history.scope} < 2` : isOf(history, { scope, owner }),
    query.key === undefined ? undefined : eq(history.key, query.key),
    scope === undefined || owner !== '' ? undefined : eq(history.scope, scope),
    query.revision === undefined ? undefined : eq(history.revision, query.revision),
    query.keys && isAnyOf(history.key, query.keys),
    query.actor === undefined ? undefined : eq(history.actor, query.actor),
    // The sign keeps the index of times out of it, which has all owners' entries.
    query.since === undefined ? undefined : sql`+${history.at} >= ${query.since}`,
    following && (owner === '' ? isFollowing(history, following) : isEarlier(history, following)),
  )
}

/** The entries of one owner; of none without a scope. */
function isOf(
  history: PostgresTables['history'],
  { scope = -1, owner }: { scope?: number | undefined; owner: string },
) {
  return and(sql`${history.scope} >= 2`, sql`${history.scope} = ${scope}`, eq(history.owner, owner))
}

/** The bound on the revision repeats what the rest implies, for the index. */
function isFollowing({ revision, scope, key }: PostgresTables['history'], entry: HistoryPlace) {
  return and(
    lte(revision, entry.revision),
    or(lt(revision, entry.revision), isBeyond([scope, key], [entry.scope, entry.key])),
  )
}

function isEarlier({ at, revision, key }: PostgresTables['history'], entry: HistoryPlace) {
  return sql`${listOf([at, revision, key])} < ${listOf([entry.at, entry.revision, entry.key])}`
}

/** The order of a query: entries of an owner by time and version, all others by revision, those of one revision by row. */
function newestFirst({ at, revision, scope, key }: PostgresTables['history'], owner = ''): SQL[] {
  return owner === '' ? [desc(revision), asc(scope), asc(key)] : [desc(at), desc(revision), desc(key)]
}

/** The keys that are stored, found by one look into the index for each; then the rows where those are not known. */
function findOthers(
  { tables: { values }, isAnyOf }: ReadEngine,
  known: NonNullable<SurveyQuery['known']>,
): SQL {
  const names = known.map(({ scope, key }) => `${scope} ${key}`)
  return sql`with recursive stored (key) as (
      select min(${values.key}) from ${values}
      union all
      select (select min(${values.key}) from ${values} where ${values.key} > stored.key)
      from stored where stored.key is not null
    )
    select stored.key, scopes.scope, (
      select count(*) from ${values} where ${values.key} = stored.key and ${values.scope} = scopes.scope
    ) as rows
    from stored cross join (select 0 as scope union all select 1 union all select 2 union all select 3) as scopes
    where not ${isAnyOf(sql`(scopes.scope || ' ' || stored.key)`, names)} order by scopes.scope, stored.key`
}

/** One look into the partial index for each key. */
export function findPlain({ tables: { history }, wanted }: ReadEngine, keys: readonly string[]): SQL {
  return sql`select wanted.key from ${wanted(keys)}
    where exists (select 1 from ${history} where ${history.key} = wanted.key and ${sql.raw(plainHistory)})`
}
