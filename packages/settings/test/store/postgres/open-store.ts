/** Stores on a PostgreSQL database of one test. */
import type { PostgresOptions } from '@fastify-modular/settings/postgres'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { Pool } from 'pg'
import type { Test } from 'tap'
import { silentLog } from '../../contract/case.ts'
import type { StorePort } from '#src/store/store.js'
import { postgres } from '../../support/stores.js'

/** A pool on an empty database. */
export async function newPool(t: Test): Promise<Pool> {
  const { url } = await testDatabase(t)
  const pool = new Pool({ connectionString: url })
  pool.on('error', () => {})
  t.teardown(() => pool.end())
  return pool
}

/** Time-outs, in ms, that a busy machine does not reach: waiting for a lock may take a third of a statement's. */
export const patient = { connect: 30_000, query: 90_000 }

/** A store on that database, open until the test ends. */
export async function openStore(t: Test, pool: Pool, options?: PostgresOptions): Promise<StorePort> {
  const store = postgres({ pool }, { timeouts: patient, ...options })
  await store.open({ log: silentLog })
  t.teardown(() => store.close())
  return store
}
