/** Transactions on a connection of the pool, and work that one instance does at a time. */
import { setTimeout as delay } from 'node:timers/promises'
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
    // A connection in an unknown state, or one that went silent, is not given back.
    connection.release(true)
    throw error
  }
}

/** A lost connection rejects its statements; its event, which nobody else hears while it is in use, would end the process. */
function ignore(): void {}

/** Milliseconds that an instance waits for others that boot at the same time. */
const bootPatience = 300_000

/** Runs while no other instance runs work of the same name. Takes one connection of the pool besides those `run` uses. */
export async function exclusively<T>(pool: PgPool, name: string, run: () => Promise<T>): Promise<T> {
  return inTransaction(pool, async (db) => {
    // This transaction only holds the lock: it waits while `run` works on other connections.
    await db.executeSql('SET LOCAL idle_in_transaction_session_timeout = 0')
    for (const end = Date.now() + bootPatience; !(await takeLock(db, name));) {
      if (Date.now() > end) throw new Error(`Another instance holds the lock "${name}" and does not end.`)
      await delay(50 + 100 * Math.random())
    }
    return run()
  })
}

/** Taken without waiting in the database, whose time-outs are for statements that are shorter than a boot. */
async function takeLock(db: BossDb, name: string): Promise<boolean> {
  const sql = 'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS taken'
  const { rows } = await db.executeSql(sql, [name])
  return (rows as { taken: boolean }[])[0]?.taken === true
}
