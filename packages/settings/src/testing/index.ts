/** @fastify-modular/settings/testing: values for one test, settings without Fastify, and the tests that every store passes. */
export { memoryStore } from '../store/memory.ts'
export { fakeSettings } from './fake-settings.ts'
export { overrideSettings, type OverrideValues } from './override-settings.ts'
export {
  type DeclareTest,
  storeContract,
  type StoreContractOptions,
  type StoreFixture,
} from './store-contract.ts'
