/** Inspection of the dead-letter queue. */
import type { EventHandler } from '../discover-handlers.ts'
import type { DeadLetter, DeadLetters } from '../transport.ts'
import type { Boss, BossDb, PgPool, StoredEvent } from './boss.ts'
import { deadQueue, handlerOf } from './queues.ts'
import { inTransaction } from './transaction.ts'

interface DeadRow {
  readonly id: string
  readonly data: StoredEvent & { readonly error?: string }
  readonly output: { message?: string; value?: { message?: string } } | null
  readonly attempts: number
  readonly at: string
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export function createDeadLetters(
  opened: () => { boss: Boss; pool: PgPool; schema: string },
  handlers: ReadonlyMap<string, EventHandler>,
): DeadLetters {
  const select = (schema: string) => `
    SELECT id, data, output, retry_limit + 1 AS attempts, extract(epoch FROM created_on) * 1000 AS at
    FROM ${schema}.job WHERE name = $1 AND state < 'completed'`

  async function take(id: string, use: (row: DeadRow, db: BossDb) => Promise<unknown>): Promise<boolean> {
    if (!uuid.test(id)) return false
    const { boss, pool, schema } = opened()
    return inTransaction(pool, async (db) => {
      const { rows } = await db.executeSql(`${select(schema)} AND id = $2 FOR UPDATE`, [deadQueue, id])
      const row = (rows as DeadRow[])[0]
      if (!row) return false
      await use(row, db)
      await boss.deleteJob(deadQueue, id, { db })
      return true
    })
  }

  return {
    async list(limit = 100) {
      const { pool, schema } = opened()
      const { rows } = await pool.query(`${select(schema)} ORDER BY created_on, id LIMIT $2`, [
        deadQueue,
        limit,
      ])
      return (rows as DeadRow[]).map((row) => toDeadLetter(row, handlers.keys()))
    },
    replay: (id) => take(id, ({ data }, db) => opened().boss.send(data.handler, data, { db })),
    discard: (id) => take(id, async () => {}),
  }
}

function toDeadLetter({ id, data, output, attempts, at }: DeadRow, handlers: Iterable<string>): DeadLetter {
  return {
    id,
    eventId: data.eventId,
    type: data.type,
    handler: handlerOf(data.handler, handlers),
    attempts,
    error: data.error ?? output?.message ?? output?.value?.message ?? 'unknown failure',
    failedAt: Number(at),
  }
}
