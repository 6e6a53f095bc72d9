import { memoryStore } from '@fastify-modular/settings'
import { storeContract } from '../contract/store-contract.ts'
import { test } from 'tap'

storeContract(test, () => ({ create: memoryStore }), { patience: 60_000 })
