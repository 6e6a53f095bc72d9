/** Transactions on a connection of the pool, and work that one instance does at a time. */
import type { BossDb, PgPool } from './boss.ts'

/** Runs statements in one transaction; rolls back when `run` rejects. */
export async function inTransaction<T>(pool: PgPool, run: (db: BossDb) => Promise<T>): Promise<T> {
  const connection = await pool.connect()
  connection.on('error', ignore)
  try {
    await connection.query('BEGIN')
    const result = await run({ executeSql: (sql, params) => connection.query(sql, params) })
    await connection.query('COMMIT')
    connection.off('error', ignore)
    connection.release()
    return result
  } catch (error) {
    // A connection in an unknown state is not given back.
    connection.release(true)
    throw error
  }
}

/** A lost connection rejects its statements; its event, which nobody else hears while it is in use, would end the process. */
function ignore(): void {}

/** Runs while no other instance runs work of the same name. Takes one connection of the pool besides those `run` uses. */
export async function exclusively<T>(pool: PgPool, name: string, run: () => Promise<T>): Promise<T> {
  return inTransaction(pool, async (db) => {
    await db.executeSql('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [name])
    return run()
  })
}
