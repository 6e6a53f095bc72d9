/** What holds for every transport. */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { type Contract, Happened, start, Unrelated, until } from './support.ts'

export function everyTransport(contract: Contract): void {
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
    await using running = await start(
      transport,
      { OneHandler: ({ number }) => seen.push(number) },
      async (app) => {
        await app.events.publish(new Happened({ number: 1 }))
        assert.deepEqual(seen, [])
      },
    )
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

  contract('after closing, publishing is refused', async ({ transport }) => {
    const running = await start(transport, {})
    await running.app.close()
    await assert.rejects(running.app.events.publish(new Happened({ number: 1 })), {
      code: 'FMOD_CORE_EVENTS_CLOSED',
    })
  })
}
