import { postgres } from '@fastify-modular/settings/postgres'
import { storeContract } from '@fastify-modular/settings/testing'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { test } from 'tap'

storeContract(test, async () => {
  const { url, drop } = await testDatabase({ teardown: () => {} })
  return { create: () => postgres({ connectionString: url }), dispose: drop }
})
