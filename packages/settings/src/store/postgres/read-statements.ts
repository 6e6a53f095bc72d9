/** What the PostgreSQL store reads, prepared once per connection. */
import { and, asc, desc, eq, gt, lt, type SQL, sql } from 'drizzle-orm'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import { SettingScope } from '../../setting-definition.ts'
import type { HistoryQuery, HistoryRow, RowId, StoredRow } from '../store.ts'
import type { PostgresTables } from './tables.ts'

export interface PostgresReads {
  row(id: RowId): Promise<StoredRow | undefined>
  shared(): Promise<{ readonly revision: number; readonly rows: readonly StoredRow[] }>
  user(userId: string): Promise<StoredRow[]>
  revision(): Promise<number>
  history(query: HistoryQuery): Promise<HistoryRow[]>
  scan(after: RowId | null, limit: number): Promise<StoredRow[]>
}

/** Prepares the reads. `name` sets the statements of this store apart from those of others on the same connection. */
export function prepareReads(
  db: NodePgDatabase,
  { values, history, meta }: PostgresTables,
  name: string,
): PostgresReads {
  const inOrder = [asc(values.scope), asc(values.userId), asc(values.key)]
  const isRevision = eq(meta.name, 'revision')
  const row = db
    .select()
    .from(values)
    .where(
      and(
        eq(values.scope, sql.placeholder('scope')),
        eq(values.userId, sql.placeholder('userId')),
        eq(values.key, sql.placeholder('key')),
      ),
    )
    .prepare(`${name}.row`)
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
  const revision = db.select({ value: meta.value }).from(meta).where(isRevision).prepare(`${name}.revision`)

  return {
    row: async ({ scope, userId, key }) => (await row.execute({ scope, userId, key }))[0],
    shared: async () => {
      const found = await shared.execute()
      return { revision: Number(found[0]?.revision ?? 0), rows: found.flatMap((each) => each.row ?? []) }
    },
    user: (userId) => user.execute({ userId }),
    revision: async () => Number((await revision.execute())[0]?.value ?? 0),
    history: (query) =>
      db
        .select()
        .from(history)
        .where(isSelected(history, query))
        .orderBy(desc(history.revision), asc(history.scope), asc(history.userId), asc(history.key))
        .limit(query.limit)
        .execute(),
    scan: (after, limit) =>
      db
        .select()
        .from(values)
        .where(after ? isAfter(values, after) : undefined)
        .orderBy(...inOrder)
        .limit(limit)
        .execute(),
  }
}

function isSelected(history: PostgresTables['history'], query: HistoryQuery): SQL | undefined {
  return and(
    query.key === undefined ? undefined : eq(history.key, query.key),
    query.scope === undefined ? undefined : eq(history.scope, query.scope),
    query.userId === undefined ? undefined : eq(history.userId, query.userId),
    query.revision === undefined ? undefined : eq(history.revision, query.revision),
    query.before === undefined ? undefined : lt(history.revision, query.before),
    query.after === undefined ? undefined : gt(history.revision, query.after),
  )
}

function isAfter(values: PostgresTables['values'], { scope, userId, key }: RowId): SQL {
  return sql`(${values.scope}, ${values.userId}, ${values.key}) > (${scope}, ${userId}, ${key})`
}
