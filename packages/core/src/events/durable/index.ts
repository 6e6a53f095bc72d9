/** Subpath `core/events/durable`: durable transports on a queue of your own, and transactions of your own. */
export { durableTransport } from './durable-transport.ts'
export type { DurableOptions } from './options.ts'
export type {
  Exchange,
  FinishedJob,
  Job,
  Outcome,
  Queue,
  QueueContext,
  QueueSource,
  StoredEvent,
} from './queue.ts'
export type { AsyncTx, RemovedHandler, Subscription, SyncTx } from '../transport.ts'
