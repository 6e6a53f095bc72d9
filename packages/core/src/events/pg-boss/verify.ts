/** Whether a transaction is on the queue's own database. */
import { randomInt } from 'node:crypto'
import type { AsyncTx } from '../transaction.ts'
import type { PgPool } from './boss.ts'

/** Takes an advisory lock in the transaction; on the same database, and only there, another session finds it taken. */
export async function sharesDatabase(pool: PgPool, tx: AsyncTx): Promise<boolean> {
  const key = randomInt(2 ** 47)
  await tx.query('SELECT pg_advisory_xact_lock($1)', [key])
  const { rows } = await pool.query('SELECT pg_try_advisory_xact_lock($1) AS free', [key])
  return (rows as { free: boolean }[])[0]?.free === false
}
