/** The two kinds of database transaction that an event can be published in, and adapters for the plain drivers. */

/** A transaction whose statements run at once (better-sqlite3): the row is written before `run` returns. */
export interface SyncTx {
  readonly kind: 'sync'
  /** Parameters stand as `?`. */
  run(sql: string, params: readonly unknown[]): void
}

/** A transaction whose statements are awaited (PostgreSQL). */
export interface AsyncTx {
  readonly kind: 'async'
  /** Parameters stand as `$1`, `$2`, … */
  query(sql: string, params: readonly unknown[]): Promise<{ readonly rows: readonly unknown[] }>
}

/** The caller's open transaction. */
export type Tx = SyncTx | AsyncTx

/** The part of a better-sqlite3 database that publishing needs. */
export interface BetterSqliteLike {
  prepare(sql: string): { run(...params: unknown[]): unknown }
}

/** The part of a pg client that publishing needs. */
export interface PgClientLike {
  query(sql: string, params: unknown[]): Promise<{ readonly rows: unknown[] }>
}

/** Publishes within the transaction that is open on a better-sqlite3 database. */
export function fromBetterSqlite(database: BetterSqliteLike): SyncTx {
  return { kind: 'sync', run: (sql, params) => void database.prepare(sql).run(...params) }
}

/** Publishes within the transaction that is open on a pg client; a pool is not a transaction. */
export function fromPg(client: PgClientLike): AsyncTx {
  return { kind: 'async', query: (sql, params) => client.query(sql, [...params]) }
}
