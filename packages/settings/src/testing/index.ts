/** @fastify-modular/settings/testing: a store that forgets, and the tests that every store passes. */
export { memoryStore } from '../store/memory.ts'
export { type DeclareTest, storeContract, type StoreFixture } from './store-contract.ts'
