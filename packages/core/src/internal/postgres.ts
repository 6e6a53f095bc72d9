/** Connections to PostgreSQL that fail instead of waiting forever for a server, or for a network, that went silent. */
import { once } from 'node:events'
import { Socket } from 'node:net'
import { callbackify } from 'node:util'
import { option, type OptionsSchema, Type } from './options.ts'
import { within } from './timeout.ts'

export { listen } from './listener.ts'
export { within }

/** How long connections that we open may wait, in milliseconds. */
export interface PostgresTimeouts {
  /** Connecting, waiting for a free connection, and the answer that proves that a listening connection lives. @default 5000 */
  readonly connect?: number
  /**
   * One statement. The server ends it after two thirds of this, a wait for a lock after one third, and a transaction
   * that does nothing after two thirds.
   * @default 15000
   */
  readonly query?: number
  /** Between two tests whether the connection that listens still answers. @default 10000; 30000 for `pgBoss` */
  readonly probe?: number
  /** Closing. Connections that are open then are cut off. @default 5000 */
  readonly close?: number
}

/** Options of what opens connections. */
export interface ConnectionOptions {
  /** How long the database may take. A pool that you hand over keeps its own time-outs for statements. */
  readonly timeouts?: PostgresTimeouts
  /**
   * Whether the server's own time-outs are set for each session. Set false behind a pooler in transaction mode, where a
   * session is shared with others, and set them on the role.
   * @default true
   */
  readonly sessionTimeouts?: boolean
}

/** Checks `ConnectionOptions`. */
export const connectionOptions = {
  timeouts: Type.Object(
    {
      connect: option.milliseconds(),
      query: option.milliseconds(),
      probe: option.milliseconds(),
      close: option.milliseconds(0),
    } satisfies OptionsSchema<PostgresTimeouts>['properties'],
    { description: 'an object with connect, query, probe and close' },
  ),
  sessionTimeouts: option.boolean(),
} satisfies OptionsSchema<ConnectionOptions>['properties']

const defaults: Required<PostgresTimeouts> = {
  connect: 5000,
  query: 15_000,
  probe: 10_000,
  close: 5000,
}

/** The part of a client of pg that is needed here. */
interface Queryable {
  query(sql: string): Promise<unknown>
}

/** A client as the pool gives it to `verify`. */
interface NewClient extends Queryable {
  on(event: 'error', listener: () => void): unknown
}

/** Opens the connections of one pool, and ends them. */
export class BoundedConnections {
  readonly timeouts: Required<PostgresTimeouts>
  readonly #setsTimeouts: boolean
  readonly #sockets = new Set<Socket>()

  constructor({ timeouts, sessionTimeouts = true }: ConnectionOptions) {
    this.timeouts = { ...defaults, ...timeouts }
    this.#setsTimeouts = sessionTimeouts
  }

  /** Options for a client of pg. */
  get clientConfig() {
    const { connect, query } = this.timeouts
    return {
      connectionTimeoutMillis: connect,
      query_timeout: query,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      stream: () => this.#openSocket(),
    }
  }

  /** Options for a pool of pg. */
  get poolConfig() {
    return {
      ...this.clientConfig,
      idleTimeoutMillis: 10_000,
      maxLifetimeSeconds: 900,
      // Called for a new connection before the pool hands it out.
      verify: callbackify((client: NewClient) => {
        // The pool has removed its own listener: without one, a connection lost from here on would end the process.
        // Whatever waits for the connection is rejected anyway.
        client.on('error', () => {})
        return this.prepare(client)
      }),
    }
  }

  /** Sets the time-outs that the server keeps for a new connection, as far as its version and platform have them. */
  async prepare(client: Queryable): Promise<void> {
    if (this.#setsTimeouts) await client.query(setTimeouts(this.timeouts.query))
  }

  /** Ends their pool; connections that do not end within the time-out are cut off. */
  async end(pool: { end(): Promise<void> }): Promise<void> {
    // The pool counts a connection as ended once it has sent its last message, whether or not the server has answered.
    const ended = pool
      .end()
      .then(() => Promise.all([...this.#sockets].map((socket) => once(socket, 'close'))))
    await within(this.timeouts.close, ended)
    for (const socket of this.#sockets) socket.destroy()
  }

  #openSocket(): Socket {
    const socket = new Socket()
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    return socket
  }
}

/** What the server bounds, in milliseconds: below the time-out of a statement in this process, so that the process gets the reason. */
export function serverTimeouts(query: number) {
  return {
    statement_timeout: Math.round((query * 2) / 3),
    lock_timeout: Math.round(query / 3),
    idle_in_transaction_session_timeout: Math.round((query * 2) / 3),
  }
}

/**
 * One statement that sets what this server and platform have: `client_connection_check_interval` needs PostgreSQL 14
 * and an operating system that reports closed connections.
 */
function setTimeouts(query: number): string {
  const values = {
    ...serverTimeouts(query),
    client_connection_check_interval: 2000,
    tcp_keepalives_idle: 10,
    tcp_keepalives_interval: 2,
    tcp_keepalives_count: 3,
  }
  const rows = Object.entries(values).map(([name, value]) => `('${name}', '${value}')`)
  return `DO $$ DECLARE wanted record; BEGIN
    FOR wanted IN SELECT * FROM (VALUES ${rows.join(', ')}) AS setting (name, value) LOOP
      BEGIN PERFORM set_config(wanted.name, wanted.value, false); EXCEPTION WHEN OTHERS THEN NULL; END;
    END LOOP;
  END $$`
}
