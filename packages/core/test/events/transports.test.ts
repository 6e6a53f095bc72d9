import Database from 'better-sqlite3'
import { drizzle as drizzleSqlite } from 'drizzle-orm/better-sqlite3'
import { drizzle as drizzlePg } from 'drizzle-orm/node-postgres'
import pg from 'pg'
import { test } from 'tap'
import { sqliteTx, pgTx, inProcess, type Tx } from '@fastify-modular/core'
import { drizzleTx } from '@fastify-modular/core/events/drizzle'
import { pgBoss } from '@fastify-modular/core/events/pg-boss'
import { eventTransportContract } from '@fastify-modular/core/testing'
import { createDatabase, testDatabase } from '@fastify-modular/test-support/postgres'
import { everyTransport } from '#src/testing/transport-contract.js'
import { type DefineTest, defineRules, type TransportFixture } from '#src/testing/transport-harness.js'
import { deliveries, releases } from './fixtures/deliveries.js'
import { lifeCycle } from './fixtures/life-cycle.js'
import { sqliteFixture } from './fixtures/sqlite.js'

type Run = (tx: Tx) => void | Promise<void>
const retries = { maxAttempts: 3, retryDelay: 20 }
/** For a busy machine. */
const patience = { patience: 60_000 }

const openFile = (file: string) => new Database(file)

test('inProcess', async (t) => {
  const contract = defineRules(
    (name, run) => void t.test(name, run),
    () => ({ create: () => inProcess() }),
    patience,
  )
  everyTransport(contract)
  deliveries(contract)
  lifeCycle(contract)
})

/** What third parties run, and what the bus and a durable transport do with every queue. */
function proveDurable(
  define: DefineTest,
  makeFixture: () => Promise<TransportFixture> | TransportFixture,
): void {
  eventTransportContract(define, makeFixture, patience)
  for (const rules of [deliveries, releases, lifeCycle]) rules(defineRules(define, makeFixture, patience))
}

test('sqliteOutbox on the connection of the publisher', async (t) => {
  proveDurable(
    (name, run) => void t.test(name, run),
    () => sqliteFixture(openFile, true, sqliteTx),
  )
})

test('sqliteOutbox on a connection of its own, published through drizzle', async (t) => {
  const txOf = (database: Database.Database) => drizzleTx(drizzleSqlite(database))
  proveDurable(
    (name, run) => void t.test(name, run),
    () => sqliteFixture(openFile, false, txOf),
  )
})

// Rules have databases of their own and run side by side.
test('pgBoss', { jobs: 4 }, async (t) => {
  const { url: serverUrl } = await testDatabase(t)

  function pgTransaction(url: string, useDrizzle: boolean) {
    return async (run: Run) => {
      const client = new pg.Client(url)
      await client.connect()
      try {
        await client.query('BEGIN')
        await run(useDrizzle ? drizzleTx(drizzlePg(client)) : pgTx(client))
        await client.query('COMMIT')
      } finally {
        await client.end() // ends an open transaction with a roll-back
      }
    }
  }

  let made = 0
  proveDurable(
    (name, run) => void t.test(name, { buffered: true }, run),
    async () => {
      const own = await createDatabase(serverUrl)
      const useDrizzle = made++ % 2 === 1
      return {
        create: (options) =>
          pgBoss({
            connectionString: own.url,
            timeouts: { connect: 60_000 },
            pollInterval: 100,
            lease: 500,
            ...retries,
            ...options,
          }),
        transaction: pgTransaction(own.url, useDrizzle),
        dispose: () => own.drop(),
      }
    },
  )
})
