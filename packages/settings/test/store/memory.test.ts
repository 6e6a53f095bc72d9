import { memoryStore, storeContract } from '@fastify-modular/settings/testing'
import { test } from 'tap'

storeContract(test, async () => ({ create: memoryStore }))
