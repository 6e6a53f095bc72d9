/** An application on a transport under test, and the events it publishes. */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import { defineEvent } from '../../events/event.ts'
import { events } from '../../events/plugin.ts'
import type { Tx } from '../../events/transaction.ts'
import type { EventTransport } from '../../events/transport.ts'

/** A transport on storage of its own. Retries must be quick: `maxAttempts: 3`, delays of at most a second or two, leases of half a second. */
export interface TransportFixture {
  readonly transport: EventTransport
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

export type Handle = (event: Happened, signal: AbortSignal) => unknown

export interface RunningApp extends AsyncDisposable {
  readonly app: FastifyInstance
}

/** Starts an application with these handlers of `Happened`, by class name. */
export async function start(
  transport: EventTransport,
  handlers: Record<string, Handle>,
  beforeReady?: (app: FastifyInstance) => Promise<void>,
): Promise<RunningApp> {
  const app = Fastify()
  await app.register(events, {
    transport,
    handlers: Object.entries(handlers).map(([name, handle]) => handlerClass(name, handle)),
  })
  await beforeReady?.(app)
  await app.ready()
  return { app, [Symbol.asyncDispose]: () => app.close().then(() => undefined) }
}

function handlerClass(name: string, handle: Handle): object {
  const classes = {
    [name]: class {
      static event = Happened
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

/** Waits until the condition holds, at most 20 seconds. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 20_000
  while (!(await condition())) {
    assert.ok(Date.now() < end, 'the condition did not come true in time')
    await delay(5)
  }
}
