/** Helpers for the tests of applications and of plugins. */
export { type EventRecord, eventsOf } from './events-of.ts'
export { injectAs, enableTestCallers } from './inject-as.ts'
export { moduleContract, type ModuleFixture } from './module-contract.ts'
export { eventTransportContract } from './transport-contract.ts'
export type { DefineTest } from './transport-harness.ts'
