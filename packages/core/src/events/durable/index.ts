/** Subpath `core/events/durable`: durable transports on a queue of your own. */
export { type DurableOptions, durableTransport } from './durable-transport.ts'
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
