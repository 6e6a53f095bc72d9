/** Connections to PostgreSQL: a pool for the store, and a client of its own for the listener. */
import { BoundedConnections, type PostgresTimeouts } from '@fastify-modular/core/internal/postgres'
import type * as Driver from 'pg'
import type { Client, ClientConfig, Pool } from 'pg'
import { FMOD_SETTINGS_DRIVER_MISSING, FMOD_SETTINGS_INVALID_STORE_OPTION } from '../../misuse-errors.ts'

/** The source, whose pool is known to be one of `pg`. */
export type DriverSource = { readonly connectionString: string } | { readonly pool: Pool }

export interface Connections {
  readonly pool: Pool
  /** Makes a client for the same database, not connected yet. */
  readonly createClient: () => Client
  /** Sets the time-outs of the server for a client that was connected; not where the caller made the pool. */
  readonly prepare: (client: Client) => Promise<void>
  readonly timeouts: Required<PostgresTimeouts>
  /** Ends the pool, unless the caller made it. */
  readonly release: () => Promise<void>
}

/**
 * Makes the pool; nothing is connected yet. `onError` hears of idle connections that were lost: the pool makes new ones.
 * @throws {FMOD_SETTINGS_DRIVER_MISSING} the package `pg` is not installed
 */
export async function createConnections(
  source: DriverSource,
  given: PostgresTimeouts,
  onError: (error: unknown) => void,
): Promise<Connections> {
  const pg = await loadDriver()
  const connections = new BoundedConnections(given)
  const { timeouts } = connections
  if ('pool' in source) {
    const { pool } = source
    pool.on('error', onError)
    // The client is ours, and so are its time-outs; how it reaches the server is the pool's.
    const { stream: _, ...bounds } = connections.clientConfig
    return {
      pool,
      createClient: () => new pg.Client({ ...clientConfigOf(pool), ...bounds }),
      prepare: async () => {},
      timeouts,
      release: async () => void pool.off('error', onError),
    }
  }
  const { connectionString } = source
  const config = { connectionString, application_name: 'fastify-modular-settings' }
  const pool = new pg.Pool({ ...connections.poolConfig, ...config, pipeline: true })
  pool.on('error', onError)
  return {
    pool,
    createClient: () => new pg.Client({ ...connections.clientConfig, ...config }),
    prepare: (client) => connections.prepare(client),
    timeouts,
    release: () => connections.end(pool),
  }
}

/**
 * The URL is looked at before the driver is: the driver's message would quote it, with the password.
 * @throws {FMOD_SETTINGS_INVALID_STORE_OPTION}
 */
export function checkSource(source: object): asserts source is DriverSource {
  if ('pool' in source && isPool(source.pool)) return
  if ('connectionString' in source && isConnectionString(source.connectionString)) return
  const reason =
    'source must be { connectionString } with a URL postgres://user:password@host:port/database, or a { pool } of the package pg'
  throw new FMOD_SETTINGS_INVALID_STORE_OPTION('postgres', reason)
}

function isPool(pool: unknown): pool is Pool {
  return ['connect', 'query', 'on', 'off'].every(
    (method) => typeof Reflect.get(Object(pool), method) === 'function',
  )
}

function isConnectionString(text: unknown): text is string {
  if (typeof text !== 'string' || !URL.canParse(text)) return false
  return ['postgres:', 'postgresql:', 'socket:'].includes(new URL(text).protocol)
}

/** The password is not enumerable in the options of a pool. */
function clientConfigOf(pool: Pool): ClientConfig {
  const { options } = pool
  return options.password === undefined ? options : { ...options, password: options.password }
}

async function loadDriver(): Promise<Pick<typeof Driver, 'Client' | 'Pool'>> {
  try {
    return (await import('pg')).default
  } catch (error) {
    const missing = new FMOD_SETTINGS_DRIVER_MISSING('postgres', 'pg', 'pg')
    missing.cause = error
    throw missing
  }
}
