/** The database on a PostgreSQL server. */
import { ServiceUnavailableException } from '@fastify-modular/core'
import { fromDrizzle } from '@fastify-modular/core/events/drizzle'
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { DatabaseError, Pool } from 'pg'
import type { Database } from './database.ts'
import { withoutParameters } from './without-parameters.ts'
import { createTables } from './tables.ts'

/** Names the lock under which tables are created. */
const bootLock = 7_202_601

/** Connects and creates the tables that are missing. `onError` hears of connections that break while idle. */
export async function openPostgres(
  url: string,
  onError: (error: Error) => void,
): Promise<Database & { readonly pool: Pool }> {
  const pool = new Pool({ connectionString: url, connectionTimeoutMillis: 5000, statement_timeout: 10_000 })
  pool.on('error', onError) // without a listener a server restart would end the process
  const db = drizzle(pool)

  async function ask<T>(question: () => Promise<T>): Promise<T> {
    try {
      return await question()
    } catch (error) {
      const cause = withoutParameters(error)
      throw isDown(cause) ? new ServiceUnavailableException(undefined, 5, cause) : cause
    }
  }

  try {
    await db.transaction(async (tx) => {
      await tx.execute(sql`select pg_advisory_xact_lock(${bootLock})`)
      for (const statement of createTables) await tx.execute(statement)
    })
  } catch (error) {
    await pool.end()
    throw error
  }
  return {
    pool,
    rows: async (statement) => (await ask(() => db.execute(statement))).rows,
    run: async (statement) => void (await ask(() => db.execute(statement))),
    runAll: (statements) =>
      ask(() =>
        db.transaction(async (tx) => {
          for (const statement of statements) await tx.execute(statement)
        }),
      ),
    forShare: sql`for share`,
    publishing: (statement, events, eventOf) =>
      ask(() =>
        db.transaction(async (tx) => {
          const { rows } = await tx.execute(statement)
          for (const row of rows) await events.publish(eventOf(row), { tx: fromDrizzle(tx) })
          return rows
        }),
      ),
    close: () => pool.end(),
  }
}

/** Whether the server could not be reached, ended the connection, went away, takes no writes or has no room. */
function isDown(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof DatabaseError)
    return error.severity === 'FATAL' || /^(?:08|53|57P|25006)/.test(error.code ?? '')
  const isOfSocket = 'code' in error && /^E[A-Z]+$/.test(String(error.code))
  return isOfSocket || /^(?:Connection terminated|timeout exceeded)/.test(error.message)
}
