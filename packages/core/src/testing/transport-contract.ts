/** What every event transport must do; run it over your own. Needs no test framework: failures are assertion errors. */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import { defineEvent, type EventClass } from '../events/event.ts'
import { events } from '../events/plugin.ts'
import type { EventTracing, TracedDelivery } from '../events/tracing.ts'
import type { EventTransport, Tx } from '../events/transport.ts'

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

/** Registers one test: tap's and node:test's `test` fit. */
export type DefineTest = (name: string, run: () => Promise<void>) => unknown

/** Defines the conformance tests of one transport, each on a fixture of its own. */
export function eventTransportContract(
  test: DefineTest,
  createFixture: () => TransportFixture | Promise<TransportFixture>,
): void {
  const contract: Contract = (rule, run) =>
    test(rule, async () => {
      const fixture = await createFixture()
      try {
        await run(fixture)
      } finally {
        await fixture.dispose()
      }
    })
  everyTransport(contract)
  durableTransport(contract)
  severalProcesses(contract)
}

/** Defines one rule, tried on a fixture of its own. */
type Contract = (rule: string, run: (fixture: TransportFixture) => Promise<void>) => void

/** What holds for every transport. */
function everyTransport(contract: Contract): void {
  contract('an event reaches every handler of its type, and no other', async ({ transport }) => {
    const seen: string[] = []
    await using running = await start(transport, {
      OneHandler: ({ number, eventId }) => seen.push(`one ${number} ${eventId}`),
      TwoHandler: ({ number, eventId }) => seen.push(`two ${number} ${eventId}`),
    })
    const event = new Happened({ number: 7 })
    await running.app.events.publish(new Unrelated({}))
    await running.app.events.publish(event)
    await until(() => seen.length === 2)
    assert.deepEqual(seen.toSorted(), [`one 7 ${event.eventId}`, `two 7 ${event.eventId}`])
    assert.equal(running.app.events.stats().published, 2)
    await until(() => running.app.events.stats().handled === 2)
  })

  contract('what is published before the application is ready is delivered', async ({ transport }) => {
    const seen: number[] = []
    const beforeReady = async (app: FastifyInstance) => {
      await app.events.publish(new Happened({ number: 1 }))
      assert.deepEqual(seen, [])
    }
    const handlers = { OneHandler: ({ number }: Happened) => seen.push(number) }
    await using running = await start(transport, handlers, { beforeReady })
    await until(() => seen.length === 1)
    assert.equal(running.app.events.stats().published, 1)
  })

  contract(
    'a handler that fails disturbs neither the publisher nor the other handlers',
    async ({ transport }) => {
      const seen: number[] = []
      await using running = await start(transport, {
        ThrowsHandler: () => {
          throw new Error('always')
        },
        RunsHandler: ({ number }) => seen.push(number),
      })
      await running.app.events.publish(new Happened({ number: 1 }))
      await until(() => seen.length === 1 && running.app.events.stats().failed >= 1)
      assert.deepEqual(seen, [1])
    },
  )

  contract('a payload that breaks its schema is refused where it is published', async ({ transport }) => {
    await using running = await start(transport, {})
    await assert.rejects(running.app.events.publish(new Happened({ number: 'x' } as never)), {
      code: 'FMOD_CORE_INVALID_EVENT',
    })
    assert.equal(running.app.events.stats().published, 0)
  })

  contract('closing waits for a running handler', async ({ transport }) => {
    const log: string[] = []
    const running = await start(transport, {
      SlowHandler: async () => {
        log.push('begins')
        await delay(50)
        log.push('ends')
      },
    })
    await running.app.events.publish(new Happened({ number: 1 }))
    await until(() => log.length === 1)
    await running.app.close()
    assert.deepEqual(log, ['begins', 'ends'])
  })

  contract('a handler whose slots are taken holds up no other one', async ({ transport }) => {
    let running = 0
    let most = 0
    let slow = 0
    let fast = 0
    let release: () => void = () => {}
    const gate = new Promise<void>((resolve) => (release = resolve))
    await using app = await start(transport, {
      SlowHandler: async () => {
        most = Math.max(most, ++running)
        await gate
        running--
        slow++
      },
      FastHandler: async () => void fast++,
    })
    for (let number = 0; number < 40; number++) await app.app.events.publish(new Happened({ number }))
    await until(() => fast === 40)
    assert.equal(slow, 0)
    release()
    await until(() => slow === 40)
    assert.equal(most, 10)
  })

  contract('the trace context of the publisher is the parent of the first attempt', async ({ transport }) => {
    const { tracing, deliveries } = recordTraces()
    await using running = await start(transport, { OneHandler: () => 'kept' }, { tracing })
    const event = new Happened({ number: 1 })
    tracing.traceparent = traceparent
    await running.app.events.publish(event)
    tracing.traceparent = 'malformed'
    await running.app.events.publish(new Happened({ number: 2 }))
    await until(() => running.app.events.stats().handled === 2)
    const first = { type: 'contract.happened', handler: 'app.OneHandler', attempt: 1 }
    const isFirst = ({ eventId }: TracedDelivery) => eventId === event.eventId
    assert.deepEqual(deliveries.filter(isFirst), [{ ...first, eventId: event.eventId, parent: traceparent }])
    assert.deepEqual(
      deliveries.filter((one) => !isFirst(one)).map(({ parent, link }) => [parent, link]),
      [[undefined, undefined]],
    )
  })

  contract('after closing, publishing is refused', async ({ transport }) => {
    const running = await start(transport, {})
    await running.app.close()
    await assert.rejects(running.app.events.publish(new Happened({ number: 1 })), {
      code: 'FMOD_CORE_EVENTS_CLOSED',
    })
  })
}

/** What holds besides for transports that keep events in a database. */
function durableTransport(contract: Contract): void {
  contract(
    'durable: a committed transaction delivers, a rolled-back one delivers nothing',
    async (fixture) => {
      if (!fixture.transaction) return
      const seen: number[] = []
      await using running = await start(fixture.transport, { OneHandler: ({ number }) => seen.push(number) })
      const publishIn = (number: number) => (tx: Tx) => publish(running.app, new Happened({ number }), tx)
      await assert.rejects(
        fixture.transaction(async (tx) => {
          await publishIn(1)(tx)
          throw new Error('rolled back')
        }),
        /rolled back/,
      )
      await fixture.transaction(publishIn(2))
      await until(() => seen.length === 1)
      await delay(200)
      assert.deepEqual(seen, [2])
    },
  )

  contract('durable: each event is handled once while nothing fails', async (fixture) => {
    if (!fixture.transaction) return
    const seen: number[] = []
    await using running = await start(fixture.transport, {
      OneHandler: async ({ number }) => {
        await delay(number % 7)
        seen.push(number)
      },
    })
    const numbers = Array.from({ length: 200 }, (_, index) => index)
    for (const number of numbers) await running.app.events.publish(new Happened({ number }))
    await until(() => seen.length >= numbers.length)
    await delay(700) // longer than the lease of a quick fixture
    assert.deepEqual(
      seen.toSorted((a, b) => a - b),
      numbers,
    )
  })

  contract('durable: verify knows its own database from another', async (fixture) => {
    const { transaction, foreignTransaction } = fixture
    if (!transaction || !foreignTransaction) return
    await using running = await start(fixture.transport, {})
    const verdicts: boolean[] = []
    const verify = async (tx: Tx) => {
      verdicts.push(tx.kind === 'sync' ? running.app.events.verify(tx) : await running.app.events.verify(tx))
    }
    await transaction(verify)
    await foreignTransaction(verify)
    assert.deepEqual(verdicts, [true, false])
  })

  contract('durable: a failed delivery is tried again until it succeeds', async (fixture) => {
    if (!fixture.transaction) return
    const attempts: string[] = []
    await using running = await start(fixture.transport, {
      FlakyHandler: ({ eventId }) => {
        attempts.push(eventId)
        if (attempts.length === 1) throw new Error('first attempt')
      },
    })
    const event = new Happened({ number: 1 })
    await running.app.events.publish(event)
    await until(() => running.app.events.stats().handled === 1)
    assert.deepEqual(attempts, [event.eventId, event.eventId])
    assert.deepEqual(await running.app.events.deadLetters?.list(), [])
  })

  contract('durable: a retry links to the trace of the publisher', async (fixture) => {
    if (!fixture.transaction) return
    const { tracing, deliveries } = recordTraces()
    tracing.traceparent = traceparent
    await using running = await start(
      fixture.transport,
      {
        FlakyHandler: () => {
          if (deliveries.length === 1) throw new Error('first attempt')
        },
      },
      { tracing },
    )
    await fixture.transaction((tx) => publish(running.app, new Happened({ number: 1 }), tx))
    await until(() => running.app.events.stats().handled === 1)
    assert.deepEqual(
      deliveries.map(({ attempt, parent, link }) => ({ attempt, parent, link })),
      [
        { attempt: 1, parent: traceparent, link: undefined },
        { attempt: 2, parent: undefined, link: traceparent },
      ],
    )
  })

  contract(
    'durable: a poison message becomes a dead letter that can be replayed and discarded',
    async (fixture) => {
      if (!fixture.transaction) return
      let poisoned = true
      const handled: number[] = []
      await using running = await start(fixture.transport, {
        PoisonHandler: ({ number }) => {
          if (poisoned) throw new Error('cannot digest')
          handled.push(number)
        },
      })
      const { deadLetters } = running.app.events
      assert.ok(deadLetters)
      await running.app.events.publish(new Happened({ number: 1 }))
      await running.app.events.publish(new Happened({ number: 2 }))
      await until(async () => (await deadLetters.list()).length === 2)
      const [first, second] = await deadLetters.list()
      assert.ok(first && second)
      assert.match(first.error, /cannot digest/)
      assert.deepEqual(
        [first.type, first.handler, first.attempts],
        ['contract.happened', 'app.PoisonHandler', 3],
      )
      assert.ok(Math.abs(first.failedAt - Date.now()) < 60_000)

      poisoned = false
      assert.equal(await deadLetters.discard(second.id), true)
      assert.equal(await deadLetters.replay(first.id), true)
      await until(() => handled.length === 1)
      assert.deepEqual(await deadLetters.list(), [])
      for (const unknown of [first.id, second.id, '', ':', 'x', '0:nobody']) {
        assert.equal(await deadLetters.replay(unknown), false, unknown)
        assert.equal(await deadLetters.discard(unknown), false, unknown)
      }
    },
  )
}

/** What holds besides where several processes, or releases one after the other, share a database. */
function severalProcesses(contract: Contract): void {
  /** Waits out no lease: what another process gets, it gets at once. */
  const patient = { lease: 60_000, closeTimeout: 20 }

  contract('durable: closing hands unfinished events back, and that counts no attempt', async (fixture) => {
    if (!fixture.another) return
    const event = new Happened({ number: 1 })
    // One more than the fixture's attempts.
    for (let process = 0; process < 4; process++) {
      let begun = 0
      await using hanging = await start(fixture.another(patient), {
        OneHandler: () => {
          begun++
          return new Promise(() => {})
        },
      })
      if (process === 0) await hanging.app.events.publish(event)
      await until(() => begun === 1)
    }
    const { tracing, deliveries } = recordTraces()
    await using running = await start(fixture.another(patient), { OneHandler: () => {} }, { tracing })
    await until(() => running.app.events.stats().handled === 1)
    assert.deepEqual(
      deliveries.map(({ eventId, attempt }) => ({ eventId, attempt })),
      [{ eventId: event.eventId, attempt: 1 }],
    )
    assert.deepEqual(await running.app.events.deadLetters?.list(), [])
  })

  contract('durable: a process that closes leaves its events to one that runs', async (fixture) => {
    if (!fixture.another) return
    const seen: number[] = []
    let begun = 0
    const hanging = await start(fixture.another(patient), {
      OneHandler: () => {
        begun++
        return new Promise(() => {})
      },
    })
    await hanging.app.events.publish(new Happened({ number: 1 }))
    await until(() => begun === 1)
    await using running = await start(fixture.another(patient), { OneHandler: ({ number }) => seen.push(number) })
    await hanging.app.close()
    await until(() => running.app.events.stats().handled === 1)
    assert.deepEqual(seen, [1])
  })

  contract('durable: a removed handler is reported, and can be unsubscribed', async (fixture) => {
    if (!fixture.another) return
    const handlers = { OneHandler: () => {}, RemovedHandler: () => {} }
    const before = await start(fixture.another(patient), handlers)
    assert.deepEqual(await before.app.events.removedHandlers?.list(), [])
    await before.app.close()

    const warnings: unknown[] = []
    const one = { OneHandler: () => {} }
    await using running = await start(fixture.another(patient), one, { warnings })
    const { removedHandlers } = running.app.events
    assert.ok(removedHandlers)
    for (const number of [1, 2, 3]) await running.app.events.publish(new Happened({ number }))
    assert.deepEqual(await removedHandlers.list(), [{ handler: 'app.RemovedHandler', waiting: 3 }])
    assert.deepEqual(warnings, ['events are kept for handlers that this process does not have'])

    assert.equal(await removedHandlers.unsubscribe('app.OneHandler'), false)
    assert.equal(await removedHandlers.unsubscribe('app.UnknownHandler'), false)
    assert.equal(await removedHandlers.unsubscribe('app.RemovedHandler'), true)
    await running.app.events.publish(new Happened({ number: 4 }))
    await until(() => running.app.events.stats().handled === 4)
    assert.deepEqual(await removedHandlers.list(), [])
    assert.equal(await removedHandlers.unsubscribe('app.RemovedHandler'), false)
  })

  contract('durable: a handler whose event was changed gets no events of the former type', async (fixture) => {
    if (!fixture.another) return
    const before = await start(fixture.another(patient), { OneHandler: () => {} })
    await before.app.close()
    const warnings: unknown[] = []
    const changed = handlerClass('OneHandler', () => {}, Unrelated)
    await using running = await start(fixture.another(patient), {}, { warnings, handlers: [changed] })
    assert.deepEqual(warnings, [
      'event handler has another event now; what waits of the former one becomes a dead letter',
    ])
    await running.app.events.publish(new Happened({ number: 1 }))
    await running.app.events.publish(new Unrelated({}))
    await until(() => running.app.events.stats().handled === 1)
    assert.deepEqual(await running.app.events.deadLetters?.list(), [])
    assert.deepEqual(await running.app.events.removedHandlers?.list(), [])
  })
}

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

/** A tracer that publishes as if within a span, and records the attempts that it runs. */
function recordTraces() {
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

class Happened extends defineEvent('contract.happened', Type.Object({ number: Type.Integer() })) {}
class Unrelated extends defineEvent('contract.unrelated', Type.Object({})) {}

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
async function start(
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

function handlerClass(name: string, handle: Handle, event: EventClass): object {
  const classes = {
    [name]: class {
      static event = event
      handle = handle
    },
  }
  return classes[name] as object
}

/** Publishes within a transaction of either kind. */
async function publish(app: FastifyInstance, event: Happened, tx: Tx): Promise<void> {
  if (tx.kind === 'sync') app.events.publish(event, { tx })
  else await app.events.publish(event, { tx })
}

/** Waits until the condition holds, at most 20 seconds. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 20_000
  while (!(await condition())) {
    assert.ok(Date.now() < end, 'the condition did not come true in time')
    await delay(5)
  }
}
