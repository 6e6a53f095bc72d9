/** What the contract of transports runs: an application on a transport, an event, a tracer. */
import { setTimeout as delay } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import { defineEvent, type DomainEvent, type EventClass } from '../events/event.ts'
import { events, type EventsOptions } from '../events/plugin.ts'
import type { EventTracing, TracedDelivery } from '../events/tracing.ts'
import type { EventTransport, Tx } from '../events/transport.ts'
import { withTimeout } from '../internal/timeout.ts'

/**
 * Empty storage for one rule. Each handler of its transports has ten slots, and those that try again are quick:
 * `maxAttempts: 3`, delays of at most a second or two, leases of half a second.
 */
export interface TransportFixture {
  /**
   * A transport on this storage, not open yet. Each call makes one more, as another process or a later release has it;
   * a durable one takes these options (milliseconds) in place of its own.
   */
  create(options?: { readonly lease: number; readonly closeTimeout: number }): EventTransport
  /** Runs in a transaction on the storage; commits, or rolls back when `run` throws. Where transports take part in some. */
  transaction?(run: (tx: Tx) => void | Promise<void>): Promise<void>
  /** Removes the storage. All transports are closed by then. */
  dispose?(): void | Promise<void>
}

export interface TransportContractOptions {
  /**
   * How long one rule may take, in milliseconds: below the time-out of the test runner, so that a failure says what was
   * waited for. Give more of both to a slow database.
   * @default 4000
   */
  readonly patience?: number
}

/** Waits for a condition. Rejects with the source of the condition when the patience of the contract has ended. */
type Until = (condition: () => boolean | Promise<boolean>) => Promise<void>

/** What a rule works with. */
export interface Bench extends TransportFixture {
  readonly until: Until
}

/** Defines one rule, tried on storage of its own. */
export type Contract = (rule: string, run: (bench: Bench) => Promise<void>) => void

export class Happened extends defineEvent('contract.happened', Type.Object({ number: Type.Integer() })) {}
export class Said extends defineEvent('contract.said', Type.Object({ text: Type.String() })) {}
export class Unrelated extends defineEvent('contract.unrelated', Type.Object({})) {}

type Handle = (event: Happened, signal: AbortSignal) => unknown

interface StartOptions {
  readonly tracing?: EventTracing
  /** Further handlers. */
  readonly handlers?: readonly object[]
  /** Gets the messages of level warn. */
  readonly warnings?: unknown[]
  /** Gets those of level info. */
  readonly notes?: unknown[]
  readonly expects?: EventsOptions['expects']
}

/** Starts an application with these handlers of `Happened`, by class name. */
export async function start(
  transport: EventTransport,
  handlers: Record<string, Handle>,
  { tracing, handlers: further = [], warnings, notes, expects = {} }: StartOptions = {},
): Promise<FastifyInstance> {
  const write = (line: string) => {
    const { level, msg } = JSON.parse(line) as { readonly level: number; readonly msg: unknown }
    ;(level === 30 ? notes : warnings)?.push(msg)
  }
  const app = Fastify({ logger: warnings ? { level: 'info', stream: { write } } : false })
  await app.register(events, {
    transport,
    handlers: [
      ...Object.entries(handlers).map(([name, handle]) => handlerClass(name, handle, Happened)),
      ...further,
    ],
    expects,
    ...(tracing && { tracing }),
  })
  await app.ready()
  return app
}

export function handlerClass<E extends DomainEvent>(
  name: string,
  handle: (event: E, signal: AbortSignal) => unknown,
  event: EventClass<E>,
): object {
  const classes = {
    [name]: class {
      static event = event
      handle = handle
    },
  }
  return classes[name] as object
}

/** Publishes within a transaction of either kind. */
export async function publish(app: FastifyInstance, event: DomainEvent, tx: Tx): Promise<void> {
  if (tx.kind === 'sync') app.events.publish(event, { tx })
  else await app.events.publish(event, { tx })
}

/** Defines one test, which fails by rejecting: `test` of tap, node:test or vitest. */
export type DefineTest = (name: string, run: () => Promise<void>) => unknown

/** For closing what a rule has started, in milliseconds. */
const closing = 500

/**
 * Each rule is a test with storage of its own, for at most `patience` milliseconds. It rejects with the wait that was in vain,
 * even if closing hangs after it.
 */
export function defineRules(
  test: DefineTest,
  makeFixture: () => TransportFixture | Promise<TransportFixture>,
  { patience = 4000 }: TransportContractOptions,
): Contract {
  return (rule, run) =>
    test(rule, async () => {
      const fixture = await makeFixture()
      const end = Date.now() + patience
      let failure = new Error(`open, publish, start or close had not ended after ${patience + closing} ms`)
      const until: Until = async (condition) => {
        while (!(await condition())) {
          if (Date.now() > end) {
            failure = new Error(`after ${patience} ms this was not true: ${String(condition)}`)
            throw failure
          }
          await delay(5)
        }
      }
      try {
        await withTimeout(run({ ...fixture, until }), patience + closing, () => {
          throw failure
        })
      } finally {
        await fixture.dispose?.()
      }
    })
}

export const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

/** A tracer that publishes as if within a span, and records the attempts that it runs. */
export function recordTraces() {
  const deliveries: TracedDelivery[] = []
  const tracing = {
    traceparent: undefined as string | undefined,
    current: () => tracing.traceparent,
    run<T>(delivery: TracedDelivery, handle: () => T): T {
      deliveries.push(delivery)
      return handle()
    },
  }
  return { tracing, deliveries }
}
