/** @fastify-modular/core/events/transport: what transports of your own are made of. The port is `EventTransport` of the package. */
export { type Attempt, backoff, deliver, type Outcome, Slots } from './delivery.ts'
export { eventTypeOf } from './event.ts'
export { warnOfChangedHandler, warnOfRemovedHandlers } from './subscription-warnings.ts'
