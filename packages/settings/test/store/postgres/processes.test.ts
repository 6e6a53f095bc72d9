import { testDatabase } from '@fastify-modular/test-support/postgres'
import t, { test } from 'tap'
import { processTests } from '../process-tests.js'

t.setTimeout(900_000)

processTests(test, async () => (await testDatabase(t)).url)
