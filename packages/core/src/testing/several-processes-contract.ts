/** What the contract of transports asks where several processes, or releases one after the other, share a database. */
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setTimeout as delay } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import type { EventDiagnostic } from '../events/diagnostics.ts'
import { defineEvent } from '../events/event.ts'
import { type Contract, handlerClass, Happened, recordTraces, start, Unrelated } from './transport-harness.ts'

const failures = 'fastify-modular:events:failed'

/** Each rule opens further transports on the storage of its fixture. */
export function severalProcesses(durable: Contract): void {
  /** Waits out no lease: what another process gets, it gets at once. */
  const patient = { lease: 60_000, closeTimeout: 20 }

  durable('closing hands unfinished events back, and that counts no attempt', async ({ create, until }) => {
    const event = new Happened({ number: 1 })
    // One more than the attempts of a fixture.
    for (let process = 0; process < 4; process++) {
      let begun = 0
      await using hanging = await start(create(patient), {
        OneHandler: async (_event, signal) => {
          begun++
          if (process % 3 === 0) await new Promise(() => {})
          if (process % 3 === 1)
            await new Promise((_resolve, reject) => signal.addEventListener('abort', reject))
          // What it uses is closed before it ends.
          for (;;) await hanging.events.publish(new Unrelated({})).then(() => delay(1))
        },
      })
      if (process === 0) await hanging.events.publish(event)
      await until(() => begun === 1)
      await hanging.close()
      assert.equal(hanging.events.stats().failed, 0)
    }
    const { tracing, deliveries } = recordTraces()
    await using running = await start(create(patient), { OneHandler: () => {} }, { tracing })
    await until(() => running.events.stats().handled === 1)
    assert.deepEqual(
      deliveries.map(({ eventId, attempt }) => ({ eventId, attempt })),
      [{ eventId: event.eventId, attempt: 1 }],
    )
    assert.deepEqual(await running.events.deadLetters?.list(), [])
  })

  durable('a process that closes leaves its events to one that runs', async ({ create, until }) => {
    const seen: number[] = []
    let begun = 0
    const hanging = await start(create(patient), {
      OneHandler: () => {
        begun++
        return new Promise(() => {})
      },
    })
    await hanging.events.publish(new Happened({ number: 1 }))
    await until(() => begun === 1)
    await using running = await start(create(patient), {
      OneHandler: ({ number }) => seen.push(number),
    })
    await hanging.close()
    await until(() => running.events.stats().handled === 1)
    assert.deepEqual(seen, [1])
  })

  durable('a removed handler is reported, and can be unsubscribed', async ({ create, until }) => {
    const handlers = { OneHandler: () => {}, RemovedHandler: () => {} }
    const before = await start(create(patient), handlers)
    assert.deepEqual(await before.events.removedHandlers?.list(), [])
    await before.close()

    const warnings: unknown[] = []
    const one = { OneHandler: () => {} }
    await using running = await start(create(patient), one, { warnings })
    const { removedHandlers } = running.events
    assert.ok(removedHandlers)
    for (const number of [1, 2, 3]) await running.events.publish(new Happened({ number }))
    assert.deepEqual(await removedHandlers.list(), [{ handler: 'app.RemovedHandler', waiting: 3 }])
    await until(() => warnings.length > 0)
    assert.deepEqual(warnings, ['events are kept for handlers that this process does not have'])

    assert.equal(await removedHandlers.unsubscribe('app.OneHandler'), false)
    assert.equal(await removedHandlers.unsubscribe('app.UnknownHandler'), false)
    assert.equal(await removedHandlers.unsubscribe('app.RemovedHandler'), true)
    await running.events.publish(new Happened({ number: 4 }))
    await until(() => running.events.stats().handled === 4)
    assert.deepEqual(await removedHandlers.list(), [])
    assert.equal(await removedHandlers.unsubscribe('app.RemovedHandler'), false)
  })

  durable(
    'a dead letter of a removed handler can be replayed, or stays where it is',
    async ({ create, until }) => {
      const before = await start(create(), {
        RemovedHandler: () => {
          throw new Error('cannot digest')
        },
      })
      await before.events.publish(new Happened({ number: 1 }))
      await until(() => before.events.stats().deadLettered === 1)
      await before.close()

      await using running = await start(create(patient), {})
      const { removedHandlers, deadLetters } = running.events
      assert.ok(removedHandlers && deadLetters)
      assert.equal(await removedHandlers.unsubscribe('app.RemovedHandler'), true)
      const [letter] = await deadLetters.list()
      assert.ok(letter)
      const isReplayed = await deadLetters.replay(letter.id)
      const waiting = isReplayed ? [{ handler: 'app.RemovedHandler', waiting: 1 }] : []
      assert.deepEqual(await removedHandlers.list(), waiting)
      assert.equal(await removedHandlers.unsubscribe('app.RemovedHandler'), isReplayed)
      assert.deepEqual(await removedHandlers.list(), [])
      assert.deepEqual(await deadLetters.list(), isReplayed ? [] : [letter])
    },
  )

  durable(
    'in a rolling deployment the release that cannot take an event leaves it to the one that can',
    async ({ create, until }) => {
      const seen: unknown[] = []
      const wider = Type.Object({ number: Type.Union([Type.Integer(), Type.Null()]) })
      class Wider extends defineEvent(Happened.type, wider) {}
      const OneHandler = handlerClass('OneHandler', ({ number }: Wider) => seen.push(number), Wider)
      const event = new Wider({ number: null })
      const former = create(patient)
      // One attempt is its share: an attempt of the later release follows.
      const stop = (failure: unknown) => {
        if ((failure as EventDiagnostic).eventId !== event.eventId) return
        unsubscribe(failures, stop)
        former.stop?.()
      }
      subscribe(failures, stop)
      const before = await start(former, { OneHandler: () => {} })
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

  durable(
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
