/** What the PostgreSQL store reads, prepared once per connection. */
import { and, eq, getTableColumns, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import { SettingScope } from '../../setting-definition.ts'
import {
  inRowOrder,
  isAfter,
  isAfterEntry,
  isNamedRow,
  isSelected,
  newestFirst,
  oldestFirst,
} from '../read-conditions.ts'
import type { HistoryId, HistoryQuery, HistoryRow, RowId, StoredRow, StoreState } from '../store.ts'
import { plainHistory } from './migrations.ts'
import type { PostgresNames } from './names.ts'
import type { PostgresTables } from './tables.ts'

export interface PostgresReads {
  row(id: RowId): Promise<StoredRow | undefined>
  shared(): Promise<{ readonly revision: number; readonly rows: readonly StoredRow[] }>
  user(userId: string): Promise<StoredRow[]>
  state(known: number): Promise<StoreState>
  history(query: HistoryQuery): Promise<HistoryRow[]>
  scan(after: RowId | null, limit: number): Promise<StoredRow[]>
  scanHistory(after: HistoryId | null, limit: number): Promise<HistoryRow[]>
  plainHistory(keys: readonly string[]): Promise<string[]>
}

/** Prepares the reads. */
export function prepareReads(
  db: NodePgDatabase,
  { values, history, meta }: PostgresTables,
  { statements: name, values: valuesName }: PostgresNames,
): PostgresReads {
  const inOrder = inRowOrder(values)
  const isRevision = eq(meta.name, 'revision')
  const row = db.select().from(values).where(isNamedRow(values)).prepare(`${name}.row`)
  const user = db
    .select()
    .from(values)
    .where(and(eq(values.scope, SettingScope.User), eq(values.userId, sql.placeholder('userId'))))
    .orderBy(...inOrder)
    .prepare(`${name}.user`)
  // One statement, so that the rows and the revision are of one moment.
  const shared = db
    .select({ revision: meta.value, row: values })
    .from(meta)
    .leftJoin(values, lt(values.scope, SettingScope.User))
    .where(isRevision)
    .orderBy(...inOrder)
    .prepare(`${name}.shared`)
  const atOf = (revision: SQL) =>
    sql`(select ${history.at} from ${history} where ${history.revision} = ${revision}::bigint limit 1)`.mapWith(
      (at: unknown): number | null => Number(at), // null is not mapped
    )
  const state = db
    .select({
      revision: meta.value,
      at: atOf(sql`${meta.value}`),
      knownAt: atOf(sql`${sql.placeholder('known')}`),
      // Neither the system's identifier nor its timeline: a snapshot of the disk that is put back has the same ones.
      epoch: sql<string>`concat(to_regclass(${valuesName})::oid, ' ', extract(epoch from pg_postmaster_start_time()))`,
    })
    .from(meta)
    .where(isRevision)
    .prepare(`${name}.state`)

  return {
    row: async ({ scope, userId, key }) => (await row.execute({ scope, userId, key }))[0],
    shared: async () => {
      const found = await shared.execute()
      return { revision: Number(found[0]?.revision ?? 0), rows: found.flatMap((each) => each.row ?? []) }
    },
    user: (userId) => user.execute({ userId }),
    state: async (known) => {
      const [found] = await state.execute({ known })
      if (!found) return { revision: 0, at: null, knownAt: null, epoch: '' }
      return { ...found, revision: Number(found.revision) }
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
        .select()
        .from(history)
        .where(isAfterEntry(history, after))
        .orderBy(...oldestFirst(history))
        .limit(limit)
        .execute(),
    plainHistory: async (keys) => {
      const found = await db.execute<{ key: string }>(findPlain(history, keys))
      return found.rows.map(({ key }) => key)
    },
  }
}

/** One look into the partial index for each key. */
export function findPlain(history: PostgresTables['history'], keys: readonly string[]): SQL {
  return sql`select wanted.key from unnest(${sql.param(keys)}::text[]) as wanted (key)
    where exists (select 1 from ${history} where ${history.key} = wanted.key and ${sql.raw(plainHistory)})`
}

function historyQuery(db: NodePgDatabase, history: PostgresTables['history'], query: HistoryQuery) {
  const order = newestFirst(history)
  const selected = isSelected(history, query)
  const { limit, maxBytes } = query
  if (maxBytes === undefined)
    return db
      .select()
      .from(history)
      .where(selected)
      .orderBy(...order)
      .limit(limit)
  // Sizes first, which read no text: what is beyond the bytes is never fetched.
  const { revision, scope, userId, key, oldValue, newValue } = history
  const bytes = sql<number>`coalesce(octet_length(${oldValue}), 0) + coalesce(octet_length(${newValue}), 0)`
  const sized = db
    .select({ revision, scope, userId, key, bytes: bytes.as('bytes') })
    .from(history)
    .where(selected)
    .orderBy(...order)
    .limit(limit)
    .as('sized')
  const byPlace = sql`${sized.revision} desc, ${sized.scope}, ${sized.userId}, ${sized.key}`
  const summed = db
    .select({
      revision: sized.revision,
      scope: sized.scope,
      userId: sized.userId,
      key: sized.key,
      total: sql<number>`sum(${sized.bytes}) over (order by ${byPlace})`.as('total'),
      place: sql<number>`row_number() over (order by ${byPlace})`.as('place'),
    })
    .from(sized)
    .as('summed')
  return db
    .select(getTableColumns(history))
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
