import { memoryStore, storeContract } from '@fastify-modular/settings/testing'
import { test } from 'tap'

storeContract(test, () => ({ create: memoryStore }), { patience: 60_000 })
