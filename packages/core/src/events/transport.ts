/** The port between the event bus and what carries events to their handlers. */
import type { FastifyBaseLogger } from 'fastify'
import type { EventHandler } from './discover-handlers.ts'
import type { DomainEvent, EventClass } from './event.ts'
import type { Tx } from './transaction.ts'

/** Carries published events to handlers. One transport serves one application. */
export interface EventTransport {
  /** Shown in messages and statistics. */
  readonly name: string
  /** The kind of transaction `publish` can take part in. */
  readonly transactional: Tx['kind'] | false
  /** Called when the application is ready, with all handlers known; publishing before that is kept. */
  start(context: TransportContext): void | Promise<void>
  /**
   * Takes one event over. Without a transaction the promise resolves once the event is handed over; within a
   * synchronous one the event is stored before `publish` returns.
   */
  publish(event: DomainEvent, tx?: Tx): void | Promise<void>
  /** Stops taking events, waits for running handlers within bounds, then aborts their signal. */
  close(): Promise<void>
}

/** What the bus gives a transport. */
export interface TransportContext {
  /** The handlers of an event type, in the order of their modules. */
  handlersOf(type: string): readonly EventHandler[]
  /** The event classes by type, so that stored events can be made again. */
  readonly eventClasses: ReadonlyMap<string, EventClass>
  readonly log: FastifyBaseLogger
}
