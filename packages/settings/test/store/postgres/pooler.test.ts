/**
 * The store behind a pooler in transaction mode. `POOLER_URL` names another one, such as PgBouncer, with
 * `DATABASE_URL` beside it, the database itself.
 */
import { storeContract } from '../../contract/store-contract.ts'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { startTransactionPooler } from '@fastify-modular/test-support/transaction-pooler'
import { Client } from 'pg'
import t, { test } from 'tap'
import { silentLog } from '../../contract/case.ts'
import { patient } from './open-store.js'
import { postgres } from '../../support/stores.js'

t.setTimeout(900_000)
const given = process.env['POOLER_URL']
const direct = given === undefined ? (await testDatabase(t)).url : (process.env['DATABASE_URL'] ?? '')
const pooler = given === undefined ? await startTransactionPooler(direct) : null
t.teardown(() => pooler?.close())
const through = pooler?.url ?? given ?? ''
const run = process.pid
const bounds = { timeouts: patient, sessionTimeouts: false }
let count = 0

storeContract(
  test,
  async () => {
    const schema = `pooled_${run}_${++count}`
    return {
      create: () =>
        postgres(
          { connectionString: through },
          { schema, prepared: false, listen: { connectionString: direct }, ...bounds },
        ),
      dispose: async () => {
        const client = new Client(direct)
        await client.connect()
        // The pooler has one search path: what the contract makes for itself is not in the schema.
        await client.query(`drop schema if exists ${schema} cascade; drop table if exists contract_probe`)
        await client.end()
      },
    }
  },
  { patience: 60_000 },
)

test('the transactions of a client run on different connections, so that named statements get lost', async (t) => {
  if (pooler === null) return // another pooler may keep them
  const before = pooler.transactions
  const store = postgres(
    { connectionString: pooler.url },
    { schema: `pooled_${run}_named`, listen: { connectionString: direct }, ...bounds },
  )
  await t.rejects(
    (async () => {
      await store.open({ log: silentLog })
      for (let read = 0; read < 20; read++) await store.shared.read()
    })(),
  )
  await store.close()
  t.ok(pooler.transactions > before)
})
