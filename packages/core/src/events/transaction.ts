/** The two kinds of database transaction that an event can be published in. */

/** A transaction whose statements run at once (better-sqlite3): the row is written before `run` returns. */
export interface SyncTx {
  readonly kind: 'sync'
  run(sql: string, params: readonly unknown[]): void
}

/** A transaction whose statements are awaited (PostgreSQL). */
export interface AsyncTx {
  readonly kind: 'async'
  query(sql: string, params: readonly unknown[]): Promise<{ readonly rows: readonly unknown[] }>
}

/** The caller's open transaction. */
export type Tx = SyncTx | AsyncTx
