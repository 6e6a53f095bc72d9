/** A real PostgreSQL server for tests, started from the binaries that npm installs. */
import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { createCluster, removeFolders, startServer } from './postgres/cluster.ts'
import { sharedServer } from './shared-servers.ts'

/** A database of its own for one test. */
export interface TestDatabase {
  readonly url: string
  /** Drops it. Connections that are open still are ended after five seconds: most have sent their goodbye already. */
  readonly drop: () => Promise<void>
}

/** A server of its own, for tests that kill or restart it. */
export interface PostgresServer {
  /** Connects as a superuser to the database `postgres`. */
  readonly url: string
  readonly pid: number
  readonly createDatabase: () => Promise<TestDatabase>
  /** Ends the server process the hard way and waits for its end; committed data stays. */
  readonly kill: (signal?: 'SIGKILL' | 'SIGQUIT') => Promise<void>
  /** Starts it again on the same port and data, after `kill` or by a clean stop first. */
  readonly restart: () => Promise<void>
  /** Stops it and removes its folder. */
  readonly stop: () => Promise<void>
}

/** What a test hands over so that its database goes with it; tap's `t` is one. */
export interface Teardown {
  teardown(callback: () => Promise<void>): unknown
}

/**
 * Starts a server (about a second, initdb included), also as root. It dies and its folder goes with this process, even
 * if this process is killed; `stop` is still the polite end. `settings` (`name=value`) win over those of tests.
 */
export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  const cluster = await createCluster(settings)
  let server = await startServer(cluster)
  const url = `postgres://postgres:${cluster.password}@127.0.0.1:${server.port}/postgres`
  return {
    url,
    get pid() {
      return server.pid
    },
    createDatabase: () => createDatabase(url),
    kill: (signal = 'SIGKILL') => server.end(signal),
    restart: async () => {
      await server.end('SIGINT')
      server = await startServer(cluster, server.port)
    },
    stop: async () => {
      await server.end('SIGINT')
      await removeFolders(cluster)
    },
  }
}

/**
 * Creates an empty database that is dropped when the test ends. It lives on the server of `TEST_DATABASE_URL`, or on the one
 * that a test run shares, or else on one server of this process.
 */
export async function testDatabase(t: Teardown): Promise<TestDatabase> {
  const server =
    process.env['TEST_DATABASE_URL'] ?? (await sharedServer('database')) ?? (await ownServer()).url
  const database = await createDatabase(server)
  t.teardown(database.drop)
  return database
}

/** Creates an empty database on a server whose user may do so. */
export async function createDatabase(serverUrl: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  await execute(serverUrl, `create database ${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => execute(serverUrl, `drop database if exists ${name}`, ' with (force)') }
}

let running: Promise<PostgresServer> | undefined

/** One per process. Nobody stops it: it ends with the process. */
function ownServer(): Promise<PostgresServer> {
  running ??= startPostgres()
  return running
}

/** Where the database is still in use after the five seconds that PostgreSQL waits by itself, the retries insist. */
async function execute(url: string, statement: string, insistence = ''): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await executeOnce(url, tries === 1 ? statement : statement + insistence)
    } catch (error) {
      const isInUse = (error as { code?: unknown }).code === '55006'
      if (!isInUse || tries === 5) throw error
    }
  }
}

async function executeOnce(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 60_000 })
  client.on('error', () => {}) // a server that is killed meanwhile must fail the query, not the process
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
