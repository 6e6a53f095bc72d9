/** Connections to PostgreSQL: a pool for the store, a client of its own for the listener, who gets one, and what their failures mean. */
import { isDomainException, ServiceUnavailableException } from '@fastify-modular/core'
import { FMOD_CORE_INVALID_OPTION } from '@fastify-modular/core/internal'
import {
  BoundedConnections,
  type ConnectionOptions,
  type PostgresTimeouts,
} from '@fastify-modular/core/internal/postgres'
import type * as Driver from 'pg'
import type { Client, ClientConfig, Pool, PoolClient, QueryConfig, QueryResult } from 'pg'
import { errorCodes } from '../../misuse-errors.ts'
import { TooManyWritesException } from '../store.ts'

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

interface StoreConnectionOptions extends ConnectionOptions {
  /** Where the client for the listener connects, if not to the source. */
  readonly listen?: { readonly connectionString: string }
}

/**
 * Makes the pool; nothing is connected yet. `onError` is called for idle connections that were lost: the pool makes new ones.
 * @throws {FMOD_SETTINGS_DRIVER_MISSING} the package `pg` is not installed
 */
export async function createConnections(
  source: DriverSource,
  { listen, ...options }: StoreConnectionOptions,
  onError: (error: unknown) => void,
): Promise<Connections> {
  const pg = await loadDriver()
  const connections = new BoundedConnections(options)
  const { timeouts } = connections
  if ('pool' in source) {
    const { pool } = source
    pool.on('error', onError)
    // The client has the store's time-outs; how it reaches the server is the pool's.
    const { stream: _, ...bounds } = connections.clientConfig
    return {
      pool,
      createClient: () => new pg.Client({ ...clientConfigOf(pool), ...listen, ...bounds }),
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
    createClient: () => new pg.Client({ ...connections.clientConfig, ...config, ...listen }),
    prepare: (client) => connections.prepare(client),
    timeouts,
    release: () => connections.end(pool),
  }
}

/**
 * Checks the URL before the driver does: the driver's message would quote it, with the password.
 * @throws {FMOD_CORE_INVALID_OPTION}
 */
export function checkSource(source: object): asserts source is DriverSource {
  if ('pool' in source && isPool(source.pool)) return
  if ('connectionString' in source && isConnectionString(source.connectionString)) return
  const reason =
    'source must be { connectionString } with a URL postgres://user:password@host:port/database, or a { pool } of the package pg'
  throw new FMOD_CORE_INVALID_OPTION('postgres()', reason)
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
  } catch (cause) {
    throw Object.assign(new errorCodes.FMOD_SETTINGS_DRIVER_MISSING('postgres', 'pg', 'pg'), { cause })
  }
}

/**
 * The failure that a caller of the store gets for an error of the driver: 503, except for misuse, and for statements that PostgreSQL
 * understood and refused (SQLSTATE classes 22, 23 and 42), which are a defect. Neither shows a stored value or the
 * connection string.
 */
export function toStoreFailure(error: unknown): unknown {
  if (isDomainException(error)) return error
  if (!(error instanceof Error)) return error
  for (const member of revealing) Reflect.deleteProperty(error, member)
  const code = 'code' in error ? String(error.code) : ''
  if (/^((22|23|42)[0-9A-Z]{3}|FMOD_.*)$/.test(code)) return error
  const reason = [code || error.message, addressOf(error)].join(' ').trim()
  // The text of an application's trigger may quote the row.
  const shown = code === 'P0001' ? undefined : error
  return new ServiceUnavailableException(
    `The PostgreSQL database of the settings cannot answer (${reason}).`,
    1,
    shown,
  )
}

/** The host and port that could not be reached, where the error names them; an error for each address of a name has several. */
function addressOf(error: object): string {
  if (error instanceof AggregateError) return [...new Set(error.errors.map(addressOf))].join(', ')
  const { address, port, hostname } = error as { address?: string; port?: number; hostname?: string }
  if (address === undefined) return hostname ?? ''
  return port === undefined ? address : `${address}:${port}`
}

/** Waits for a statement of the store. @throws what `toStoreFailure` makes of its error */
export async function orStoreFailure<T>(statement: PromiseLike<T>): Promise<T> {
  try {
    return await statement
  } catch (error) {
    throw toStoreFailure(error)
  }
}

/** Members of PostgreSQL's errors that quote rows and parameters, and of Node's that quote a URL. */
const revealing = ['detail', 'where', 'internalQuery', 'input']

/** Runs a transaction on a connection of its own, which is rolled back or thrown away when it fails. */
export async function onConnection<T>(pool: Pool, task: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await orStoreFailure(pool.connect())
  let isClean = true
  // Without a listener a lost connection would end the process. The loss also ends a write whose enqueue() waits for
  // something other than this connection.
  const { lost, onError } = lossOf()
  client.on('error', onError)
  try {
    return await Promise.race([task(client), lost])
  } catch (error) {
    isClean = !isUnanswered(error) && (await rollBack(client))
    throw error
  } finally {
    client.off('error', onError)
    client.release(!isClean)
  }
}

/** A connection that did not answer would not answer a rollback either; the server rolls back when it is closed. */
export function isUnanswered(error: unknown): boolean {
  const cause = isDomainException(error) && error.statusCode === 503 ? error.cause : undefined
  return cause instanceof Error && !('severity' in cause) // errors that PostgreSQL answers have a severity
}

function rollBack(client: PoolClient): Promise<boolean> {
  return client.query('rollback').then(
    () => true,
    () => false,
  )
}

function lossOf(): { readonly lost: Promise<never>; readonly onError: (error: unknown) => void } {
  let onError: (error: unknown) => void = () => {}
  const lost = new Promise<never>((_, reject) => (onError = (error) => reject(toStoreFailure(error))))
  return { lost, onError }
}

/** Runs the statements in their order; where the driver pipelines, without waiting for the answers in between. */
export async function sendTogether(
  client: PoolClient,
  statements: readonly QueryConfig[],
): Promise<readonly QueryResult[]> {
  if (client.pipeline) return Promise.all(statements.map((statement) => client.query(statement)))
  const results: QueryResult[] = []
  for (const statement of statements) results.push(await client.query(statement))
  return results
}

/**
 * Lets so many tasks run at a time; the others wait in line. Writers of one process wait here and not in the database:
 * there each of them would hold a connection of the pool, and readers would find none.
 */
export class WriteQueue {
  readonly #limit: number
  readonly #size: number
  readonly #line: (() => void)[] = []
  #free: number

  /** `limit` is how long a task waits for its turn, in milliseconds. */
  constructor(limit: number, size: number) {
    this.#limit = limit
    this.#size = size
    this.#free = size
  }

  get isIdle(): boolean {
    return this.#free === this.#size
  }

  /** Runs the task when it is its turn. @throws {ServiceUnavailableException} its turn does not come in time */
  async take<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await this.#wait()
    try {
      return await task()
    } finally {
      const next = this.#line.shift()
      if (next) next()
      else this.#free++
    }
  }

  #wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#line.splice(this.#line.indexOf(go), 1)
        reject(new TooManyWritesException())
      }, this.#limit)
      const go = (): void => {
        clearTimeout(timer)
        resolve()
      }
      this.#line.push(go)
    })
  }
}
