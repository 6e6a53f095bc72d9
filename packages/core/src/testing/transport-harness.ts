/** What the contract of transports runs: an application on a transport, an event, a tracer. */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import { defineEvent, type EventClass } from '../events/event.ts'
import { events } from '../events/plugin.ts'
import type { EventTracing, TracedDelivery } from '../events/tracing.ts'
import type { EventTransport, Tx, Waker } from '../events/transport.ts'

/**
 * A transport on storage of its own. Retries must be quick: `maxAttempts: 3`, delays of at most a second or two, leases of
 * half a second; and each handler has ten slots.
 */
export interface TransportFixture {
  readonly transport: EventTransport
  /** Another transport on the same storage, as another process or a later release has it. For durable transports. */
  another?(options: { readonly lease: number; readonly closeTimeout: number }): EventTransport
  /** Runs in a transaction on the transport's database; commits, or rolls back when `run` throws. For durable transports. */
  transaction?(run: (tx: Tx) => void | Promise<void>): Promise<void>
  /** The same on another database of the same kind. */
  foreignTransaction?(run: (tx: Tx) => void | Promise<void>): Promise<void>
  dispose(): void | Promise<void>
}

/** Defines one rule, tried on a fixture of its own. */
export type Contract = (rule: string, run: (fixture: TransportFixture) => Promise<void>) => void

export class Happened extends defineEvent('contract.happened', Type.Object({ number: Type.Integer() })) {}
export class Unrelated extends defineEvent('contract.unrelated', Type.Object({})) {}

type Handle = (event: Happened, signal: AbortSignal) => unknown

interface RunningApp extends AsyncDisposable {
  readonly app: FastifyInstance
}

interface StartOptions {
  readonly tracing?: EventTracing
  readonly beforeReady?: (app: FastifyInstance) => Promise<void>
  /** Further handlers. */
  readonly handlers?: readonly object[]
  /** Gets the messages of level warn. */
  readonly warnings?: unknown[]
}

/** Starts an application with these handlers of `Happened`, by class name. */
export async function start(
  transport: EventTransport,
  handlers: Record<string, Handle>,
  { tracing, beforeReady, handlers: further = [], warnings }: StartOptions = {},
): Promise<RunningApp> {
  const write = (line: string) => void warnings?.push((JSON.parse(line) as { msg: unknown }).msg)
  const app = Fastify({ logger: warnings ? { level: 'warn', stream: { write } } : false })
  await app.register(events, {
    transport,
    handlers: [
      ...Object.entries(handlers).map(([name, handle]) => handlerClass(name, handle, Happened)),
      ...further,
    ],
    ...(tracing && { tracing }),
  })
  await beforeReady?.(app)
  await app.ready()
  return { app, [Symbol.asyncDispose]: () => app.close().then(() => undefined) }
}

export function handlerClass(name: string, handle: Handle, event: EventClass): object {
  const classes = {
    [name]: class {
      static event = event
      handle = handle
    },
  }
  return classes[name] as object
}

/** Publishes within a transaction of either kind. */
export async function publish(app: FastifyInstance, event: Happened, tx: Tx): Promise<void> {
  if (tx.kind === 'sync') app.events.publish(event, { tx })
  else await app.events.publish(event, { tx })
}

/** The same for a publisher that wakes the handlers after the commit, which transactions of SQLite need not. */
export async function publishQuietly(
  app: FastifyInstance,
  event: Happened,
  tx: Tx,
): Promise<Waker | undefined> {
  if (tx.kind === 'async') return app.events.publish(event, { tx, wakes: true })
  app.events.publish(event, { tx })
  return undefined
}

/** Waits until the condition holds, at most 20 seconds. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 20_000
  while (!(await condition())) {
    assert.ok(Date.now() < end, 'the condition did not come true in time')
    await delay(5)
  }
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
