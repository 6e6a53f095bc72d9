/** The database on a PostgreSQL server. */
import { setTimeout as delay } from 'node:timers/promises'
import { ServiceUnavailableException } from '@fastify-modular/core'
import { drizzleTx } from '@fastify-modular/core/events/drizzle'
import { sql } from 'drizzle-orm'
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import { DatabaseError, Pool, type PoolClient } from 'pg'
import type { Database } from './database.ts'
import { withoutParameters } from './database.ts'
import { createTables } from './database.ts'

/** A network can lose connections and report it to neither side: every wait ends, here and on the server; milliseconds. */
const timeouts = {
  connectionTimeoutMillis: 5000,
  query_timeout: 15_000,
  idleTimeoutMillis: 10_000,
  maxLifetimeSeconds: 900,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  statement_timeout: 10_000,
  lock_timeout: 5000,
  idle_in_transaction_session_timeout: 10_000,
  options:
    '-c client_connection_check_interval=2s -c tcp_keepalives_idle=10 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=3',
}

/** How long the server may take to close the connections, in ms. */
const closePatience = 2000

/** Names the lock under which tables are created. */
const bootLock = 7_202_601

/** Connects and creates the tables that are missing. `onError` is called for connections that break while idle. */
export async function openPostgres(
  url: string,
  onError: (error: Error) => void,
): Promise<Database & { readonly pool: Pool }> {
  const pool = new Pool({ connectionString: url, ...timeouts })
  pool.on('error', onError) // without a listener a server restart would end the process
  const end = closing(pool)
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
    await transaction(pool, async (tx) => {
      await tx.execute(sql`select pg_advisory_xact_lock(${bootLock})`)
      for (const statement of createTables) await tx.execute(statement)
    })
  } catch (error) {
    await end()
    throw error
  }
  return {
    pool,
    rows: async (statement) => (await ask(() => db.execute(statement))).rows,
    run: async (statement) => void (await ask(() => db.execute(statement))),
    runAll: (statements) =>
      ask(() =>
        transaction(pool, async (tx) => {
          for (const statement of statements) await tx.execute(statement)
        }),
      ),
    query: async (text, values = []) => (await ask(() => pool.query(text, [...values]))).rows,
    publishing: (statement, events, eventOf) =>
      ask(() =>
        transaction(pool, async (tx) => {
          const { rows } = await tx.execute(statement)
          for (const row of rows) await events.publish(eventOf(row), { tx: drizzleTx(tx) })
          return rows
        }),
      ),
    close: end,
  }
}

/** Like drizzle's `transaction`, which would give a connection that went silent back to the pool as a good one. */
async function transaction<T>(pool: Pool, run: (tx: NodePgDatabase) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  const ignore = (): void => {} // the statement that waits is rejected
  client.on('error', ignore)
  const tx = drizzle(client)
  try {
    await tx.execute(sql`begin`)
    const result = await run(tx)
    await tx.execute(sql`commit`)
    client.off('error', ignore)
    client.release()
    return result
  } catch (error) {
    client.release(true) // closes it, and with it the transaction
    throw error
  }
}

/** Returns a function that ends the pool, and cuts off the connections whose server does not answer. */
function closing(pool: Pool): () => Promise<void> {
  const open = new Set<PoolClient>()
  pool.on('connect', (client) => open.add(client))
  pool.on('remove', (client) => open.delete(client))
  return async () => {
    await Promise.race([pool.end(), delay(closePatience, undefined, { ref: false })])
    for (const { connection } of open) connection.stream.destroy()
  }
}

/** Whether the server could not be reached, ended the connection, went away, takes no writes or has no room. */
function isDown(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof DatabaseError)
    return error.severity === 'FATAL' || /^(?:08|53|57P|25006)/.test(error.code ?? '')
  const isOfSocket = 'code' in error && /^E[A-Z]+$/.test(String(error.code))
  return isOfSocket || /^(?:Connection terminated|timeout exceeded|Query read timeout)/.test(error.message)
}
