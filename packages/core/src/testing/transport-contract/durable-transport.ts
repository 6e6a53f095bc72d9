/** What holds besides for transports that keep events in a database. */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { Tx } from '../../events/transaction.ts'
import { type Contract, Happened, publish, start, until } from './support.ts'

export function durableTransport(contract: Contract): void {
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
