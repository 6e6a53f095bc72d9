/** The event bus behind `app.events`: checks what is published and hands it to the transport. */
import { TypeCompiler, type TypeCheck } from '@sinclair/typebox/compiler'
import type { TObject } from '@sinclair/typebox'
import type { FastifyBaseLogger } from 'fastify'
import {
  FMOD_CORE_DUPLICATE_EVENT_TYPE,
  FMOD_CORE_EVENTS_CLOSED,
  FMOD_CORE_INVALID_EVENT,
  FMOD_CORE_TRANSACTION_NOT_SUPPORTED,
} from '../misuse-errors.ts'
import type { EventHandler } from './discover-handlers.ts'
import { type DomainEvent, type EventClass, eventClassOf } from './event.ts'
import type { AsyncTx, SyncTx, Tx } from './transaction.ts'
import type { EventTransport } from './transport.ts'

/** Publishes events (S 6.2). */
export interface Events {
  /**
   * Hands an event over; resolves when the transport has it. Handlers run later and cannot fail the publisher.
   * @throws {FMOD_CORE_INVALID_EVENT} not an event, or its payload does not fit its schema
   * @throws {FMOD_CORE_EVENTS_CLOSED} the application has closed
   */
  publish(event: DomainEvent): Promise<void>
  /** As part of the caller's synchronous transaction: stored before it returns, delivered only if it commits. */
  publish(event: DomainEvent, options: { readonly tx: SyncTx }): void
  /** As part of the caller's asynchronous transaction: delivered only if it commits. */
  publish(event: DomainEvent, options: { readonly tx: AsyncTx }): Promise<void>
  /** The kind of transaction that `publish` accepts. */
  readonly transactional: EventTransport['transactional']
}

/** The bus and what the plugin needs to fill, start and stop it. */
export interface EventBus extends Events {
  add(handlers: readonly EventHandler[]): void
  start(log: FastifyBaseLogger): Promise<void>
  close(): Promise<void>
}

const none: readonly EventHandler[] = []

/** A bus over one transport. */
export function createEventBus(transport: EventTransport): EventBus {
  const handlersByType = new Map<string, EventHandler[]>()
  const eventClasses = new Map<string, EventClass>()
  const checks = new WeakMap<EventClass, TypeCheck<TObject>>()
  let closed = false

  function check(event: DomainEvent): void {
    const eventClass = eventClassOf(event)
    if (!eventClass)
      throw new FMOD_CORE_INVALID_EVENT(String(event), 'it was not made by a class from defineEvent')
    let compiled = checks.get(eventClass)
    if (!compiled) {
      remember(eventClass)
      compiled = TypeCompiler.Compile(eventClass.schema)
      checks.set(eventClass, compiled)
    }
    if (compiled.Check(event)) return
    // The path and the rule; never the value, which may be a secret.
    const first = compiled.Errors(event).First()
    throw new FMOD_CORE_INVALID_EVENT(
      eventClass.type,
      `${first?.path || 'the payload'}: ${first?.message ?? 'invalid'}`,
    )
  }

  function remember(eventClass: EventClass): void {
    const known = eventClasses.get(eventClass.type)
    if (known && known !== eventClass) throw new FMOD_CORE_DUPLICATE_EVENT_TYPE(eventClass.type)
    eventClasses.set(eventClass.type, eventClass)
  }

  function publishWithin(event: DomainEvent, tx: Tx): void | Promise<void> {
    if (transport.transactional !== tx.kind)
      throw new FMOD_CORE_TRANSACTION_NOT_SUPPORTED(transport.name, tx.kind)
    return transport.publish(event, tx)
  }

  function publish(event: DomainEvent): Promise<void>
  function publish(event: DomainEvent, options: { readonly tx: SyncTx }): void
  function publish(event: DomainEvent, options: { readonly tx: AsyncTx }): Promise<void>
  function publish(event: DomainEvent, options?: { readonly tx: Tx }): void | Promise<void> {
    if (options?.tx.kind === 'sync') {
      admit(event)
      return publishWithin(event, options.tx)
    }
    return hand(event, options?.tx)
  }

  async function hand(event: DomainEvent, tx: Tx | undefined): Promise<void> {
    admit(event)
    await (tx ? publishWithin(event, tx) : transport.publish(event))
  }

  function admit(event: DomainEvent): void {
    check(event)
    if (closed) throw new FMOD_CORE_EVENTS_CLOSED(eventClassOf(event)?.type ?? '')
  }

  return {
    publish,
    transactional: transport.transactional,
    add(handlers) {
      for (const handler of handlers) {
        remember(handler.event)
        const { type } = handler.event
        handlersByType.set(type, [...(handlersByType.get(type) ?? []), handler])
      }
    },
    async start(log) {
      await transport.start({ handlersOf: (type) => handlersByType.get(type) ?? none, eventClasses, log })
    },
    async close() {
      closed = true
      await transport.close()
    },
  }
}
