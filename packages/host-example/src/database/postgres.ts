/** The database on a PostgreSQL server. */
import { setTimeout as delay } from 'node:timers/promises'
import { pgTx, ServiceUnavailableException } from '@fastify-modular/core'
import { pgBoss } from '@fastify-modular/core/events/pg-boss'
import { postgres } from '@fastify-modular/settings/postgres'
import { DatabaseError, Pool, type PoolClient } from 'pg'
import { createTables, type Database, type Row } from './database.ts'

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
  tables = createTables,
): Promise<Database> {
  const pool = new Pool({ connectionString: url, ...timeouts })
  pool.on('error', onError) // without a listener a server restart would end the process
  const end = closing(pool)

  async function ask<T>(question: () => Promise<T>): Promise<T> {
    try {
      return await question()
    } catch (error) {
      throw isDown(error) ? new ServiceUnavailableException(undefined, 5, error) : error
    }
  }

  try {
    await transaction(pool, async (client) => {
      await client.query('select pg_advisory_xact_lock($1)', [bootLock])
      for (const text of tables) await client.query(text)
    })
  } catch (error) {
    await end()
    throw error
  }
  return {
    query: async (text, values = []) => (await ask(() => pool.query(text, [...values]))).rows,
    write: (statements, publishing) =>
      ask(() =>
        transaction(pool, async (client) => {
          const rows: Row[] = []
          for (const [text, values = []] of statements)
            rows.push(...(await client.query<Row>(text, [...values])).rows)
          const tx = pgTx(client)
          for (const row of rows) await publishing?.events.publish(publishing.eventOf(row), { tx })
          return rows
        }),
      ),
    settingsStore: postgres({ pool }),
    eventTransport: pgBoss({ pool, timeouts: { close: 1000 } }),
    close: end,
  }
}

async function transaction<T>(pool: Pool, run: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  const ignore = (): void => {} // the statement that waits is rejected
  client.on('error', ignore)
  try {
    await client.query('begin')
    const result = await run(client)
    await client.query('commit')
    client.off('error', ignore)
    client.release()
    return result
  } catch (error) {
    client.release(true) // closes it, and with it the transaction: it may have gone silent
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
