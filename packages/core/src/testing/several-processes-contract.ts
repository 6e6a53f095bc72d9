/** What the contract asks where several processes, or releases one after the other, share a database. */
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setTimeout as delay } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { EventDiagnostic } from '../events/diagnostics.ts'
import { defineEvent } from '../events/event.ts'
import type { EventTransport, OpenTransport } from '../events/transport.ts'
import {
  type Contract,
  handlerClass,
  Happened,
  publish,
  recordTraces,
  start,
  Unrelated,
} from './transport-harness.ts'

const channel = 'fastify-modular:core'

/** Each rule opens further transports on the storage of its fixture. */
export function severalProcesses(contract: Contract): void {
  /** Waits out no lease: what another process gets, it gets at once. */
  const patient = { lease: 60_000, closeTimeout: 20 }

  contract(
    'closing hands unfinished events to a process that runs, and that counts no attempt',
    async (bench) => {
      const event = new Happened({ number: 1 })
      const handle: readonly ((app: FastifyInstance, signal: AbortSignal) => unknown)[] = [
        () => new Promise(() => {}),
        (_app, signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', reject)),
        async (app) => {
          // What it uses is closed before it ends.
          for (;;) await app.events.publish(new Unrelated({})).then(() => delay(1))
        },
        () => new Promise(() => {}), // one more than the attempts of a fixture
        () => 'handled',
      ]
      const { tracing, deliveries } = recordTraces()
      let last: FastifyInstance | undefined
      for (const [process, handleIn] of handle.entries()) {
        const OneHandler = (_event: Happened, signal: AbortSignal) => handleIn(next, signal)
        const next: FastifyInstance = await start(bench.create(patient), { OneHandler }, { tracing })
        if (!last) await next.events.publish(event)
        await last?.close()
        assert.equal(last?.events.stats().failed ?? 0, 0)
        await bench.until(() => deliveries.length === process + 1)
        last = next
      }
      await bench.until(() => last?.events.stats().handled === 1)
      assert.deepEqual(
        deliveries.map(({ eventId, attempt }) => ({ eventId, attempt })),
        handle.map(() => ({ eventId: event.eventId, attempt: 1 })),
      )
      assert.deepEqual(await last?.events.deadLetters?.list(), [])
      await last?.close()
    },
  )

  contract('a removed handler is reported, and can be unsubscribed', async ({ create, until }) => {
    const fail = () => {
      throw new Error('cannot digest')
    }
    const before = await start(create(), { OneHandler: () => {}, RemovedHandler: fail })
    assert.deepEqual(await before.events.removedHandlers?.list(), [])
    await before.events.publish(new Happened({ number: 0 }))
    await until(() => before.events.stats().deadLettered === 1)
    await before.close()

    const warnings: unknown[] = []
    const one = { OneHandler: () => {} }
    await using running = await start(create(patient), one, { warnings })
    const { removedHandlers, deadLetters } = running.events
    assert.ok(removedHandlers && deadLetters)
    for (const number of [1, 2, 3]) await running.events.publish(new Happened({ number }))
    assert.deepEqual(await removedHandlers.list(), [{ handler: 'app.RemovedHandler', waiting: 3 }])
    await until(() => warnings.length > 0)
    assert.deepEqual(warnings, ['events are kept for handlers that this process does not have'])

    assert.equal(await removedHandlers.unsubscribe('app.OneHandler'), false)
    assert.equal(await removedHandlers.unsubscribe('app.UnknownHandler'), false)
    assert.equal(await removedHandlers.unsubscribe('app.RemovedHandler'), true)
    await running.events.publish(new Happened({ number: 4 }))
    await until(() => running.events.stats().handled === 4)
    const [letter] = await deadLetters.list()
    assert.ok(letter)
    assert.equal(await deadLetters.replay(letter.id), false, 'nothing would take it from there')
    assert.deepEqual(await deadLetters.list(), [letter])
    assert.deepEqual(await removedHandlers.list(), [])
    assert.equal(await removedHandlers.unsubscribe('app.RemovedHandler'), false)
  })

  contract('an event without any subscription is counted, and warned of once', async (bench) => {
    const { create, transaction } = bench
    const warnings: unknown[] = []
    await using running = await start(create(patient), { OneHandler: () => {} }, { warnings })
    await running.events.publish(new Happened({ number: 1 }))
    for (const event of [new Unrelated({}), new Unrelated({})]) await running.events.publish(event)
    await transaction?.((tx) => publish(running, new Unrelated({}), tx))
    assert.equal(running.events.stats().unsubscribed, transaction ? 3 : 2)
    assert.deepEqual(warnings, ['an event is kept for nobody: no handler of its type has ever started'])
  })

  contract(
    'an expected handler gets what was published before its first start; one that has a subscription keeps it',
    async ({ create, until }) => {
      const seen: string[] = []
      const one = { OneHandler: ({ number }: Happened) => seen.push(`one ${number}`) }
      await (await start(create(patient), one)).close()
      const expects = { [Happened.type]: ['app.LaterHandler'], [Unrelated.type]: ['app.OneHandler'] }
      const warnings: unknown[] = []
      await using publisher = await start(create(patient), {}, { expects, warnings })
      await publisher.events.publish(new Happened({ number: 1 }))
      await publisher.events.publish(new Unrelated({}))
      assert.equal(publisher.events.stats().unsubscribed, 1)
      const waiting = (await publisher.events.removedHandlers?.list()) ?? []
      assert.deepEqual(
        waiting.toSorted((a, b) => (a.handler < b.handler ? -1 : 1)),
        [
          { handler: 'app.LaterHandler', waiting: 1 },
          { handler: 'app.OneHandler', waiting: 1 },
        ],
      )
      const later = { LaterHandler: ({ number }: Happened) => seen.push(`later ${number}`) }
      const both = await start(create(patient), { ...one, ...later })
      await until(() => seen.length === 2)
      await both.close()
      assert.deepEqual(seen.toSorted(), ['later 1', 'one 1'])
      assert.deepEqual(warnings, ['an event is kept for nobody: no handler of its type has ever started'])
    },
  )

  contract('a process that only publishes does not warn of the handlers of others', async (bench) => {
    await (await start(bench.create(patient), { OneHandler: () => {} })).close()
    const warnings: unknown[] = []
    const notes: unknown[] = []
    await using publisher = await start(bench.create(patient), {}, { warnings, notes })
    await bench.until(() => notes.length > 0)
    assert.deepEqual(notes, ['events are kept for handlers that this process does not have'])
    await publisher.events.publish(new Happened({ number: 1 }))
    assert.deepEqual(warnings, [])
  })

  contract(
    'in a rolling deployment the release that cannot take an event leaves it to the one that can',
    async ({ create, until }) => {
      const seen: unknown[] = []
      const wider = Type.Object({ number: Type.Union([Type.Integer(), Type.Null()]) })
      class Wider extends defineEvent(Happened.type, wider) {}
      const OneHandler = handlerClass('OneHandler', ({ number }: Wider) => seen.push(number), Wider)
      const event = new Wider({ number: null })
      const former = create(patient)
      let opened: OpenTransport | undefined
      const open: EventTransport['open'] = async (context) => (opened = await former.open(context))
      // One attempt is its share: an attempt of the later release follows.
      const stop = (message: unknown) => {
        const { type, eventId } = message as EventDiagnostic
        if (type !== 'failed' || eventId !== event.eventId) return
        unsubscribe(channel, stop)
        opened?.stop?.()
      }
      subscribe(channel, stop)
      const before = await start({ ...former, open }, { OneHandler: () => {} })
      await using publisher = await start(create(patient), {})
      await publisher.events.publish(event)
      const { deadLetters } = before.events
      await until(async () => before.events.stats().failed + ((await deadLetters?.list())?.length ?? 0) === 1)
      assert.deepEqual(await deadLetters?.list(), [])
      await using after = await start(create(patient), {}, { handlers: [OneHandler] })
      await before.close()
      await until(() => after.events.stats().handled === 1)
      assert.deepEqual(seen, [null])
      assert.deepEqual(await after.events.deadLetters?.list(), [])
    },
  )

  contract(
    'a handler whose event was changed gets none of the former type; what waits of it fails as often as it may',
    async ({ create, until }) => {
      const before = await start(create(patient), { OneHandler: () => new Promise(() => {}) })
      await before.events.publish(new Happened({ number: 1 }))
      await before.close()
      const changed = handlerClass('OneHandler', () => {}, Unrelated)
      await using running = await start(create(patient), {}, { handlers: [changed] })
      await running.events.publish(new Happened({ number: 2 }))
      await running.events.publish(new Unrelated({}))
      await until(() => running.events.stats().handled === 1)
      await until(async () => (await running.events.deadLetters?.list())?.length === 1)
      const [letter] = (await running.events.deadLetters?.list()) ?? []
      assert.deepEqual([letter?.type, letter?.attempts], ['contract.happened', 3])
      assert.deepEqual(await running.events.removedHandlers?.list(), [])
    },
  )
}
