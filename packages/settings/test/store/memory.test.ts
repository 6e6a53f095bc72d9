import { storeContract } from '../contract/store-contract.ts'
import { test } from 'tap'
import { memoryStore } from '../support/stores.js'

storeContract(test, () => ({ create: memoryStore }), { patience: 60_000 })
