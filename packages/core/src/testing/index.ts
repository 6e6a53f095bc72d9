/** Helpers for the tests of applications and of plugins. */
export { type EventRecord, eventsOf } from './events-of.ts'
export { injectAs, testCallers } from './inject-as.ts'
export { type DefineTest, eventTransportContract, type TransportFixture } from './transport-contract.ts'
