import { storeContract } from '../../contract/store-contract.ts'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { Client } from 'pg'
import t, { test } from 'tap'
import { patient } from './open-store.js'
import { postgres } from '../../support/stores.js'

const { url } = await testDatabase(t)
let count = 0

// A schema is an empty database for a store, and much cheaper.
storeContract(
  test,
  async () => {
    const schema = `case_${++count}`
    const client = new Client(url)
    await client.connect()
    await client.query(`create schema ${schema}`)
    await client.end()
    const connectionString = `${url}?options=-c%20search_path%3D${schema}`
    return { create: () => postgres({ connectionString }, { timeouts: patient }) }
  },
  { patience: 60_000 },
)
