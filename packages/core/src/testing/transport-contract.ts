/** What a durable event transport must do, as tests that one on a queue of yours can run. Needs no test framework. */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { TracedDelivery } from '../events/tracing.ts'
import type { Tx } from '../events/transport.ts'
import { severalProcesses } from './several-processes-contract.ts'
import {
  type Contract,
  type DefineTest,
  defineRules,
  handlerClass,
  Happened,
  publish,
  recordTraces,
  Said,
  start,
  traceparent,
  type TransportContractOptions,
  type TransportFixture,
  Unrelated,
} from './transport-harness.ts'

/**
 * Defines one test for each thing that applications rely on. Each gets storage of its own. Rules about transactions pass
 * where the fixture has no `transaction`.
 *
 * @example eventTransportContract(test, () => ({ create: () => myTransport(url), dispose: () => drop(url) }))
 */
export function eventTransportContract(
  test: DefineTest,
  makeFixture: () => TransportFixture | Promise<TransportFixture>,
  options: TransportContractOptions = {},
): void {
  const contract = defineRules(test, makeFixture, options)
  everyTransport(contract)
  durableTransport(contract)
  severalProcesses(contract)
}

/** What holds for `inProcess()`, too. */
export function everyTransport(contract: Contract): void {
  contract('an event reaches every handler of its type, and no other', async ({ create, until }) => {
    const seen: string[] = []
    await using running = await start(create(), {
      OneHandler: ({ number, eventId }) => seen.push(`one ${number} ${eventId}`),
      TwoHandler: ({ number, eventId }) => seen.push(`two ${number} ${eventId}`),
    })
    const event = new Happened({ number: 7 })
    await running.events.publish(new Unrelated({}))
    await running.events.publish(event)
    await until(() => seen.length === 2)
    assert.deepEqual(seen.toSorted(), [`one 7 ${event.eventId}`, `two 7 ${event.eventId}`])
    assert.equal(running.events.stats().published, 2)
    await until(() => running.events.stats().handled === 2)
  })

  contract(
    'a handler that fails disturbs neither the publisher nor the other handlers',
    async ({ create, until }) => {
      const seen: number[] = []
      await using running = await start(create(), {
        ThrowsHandler: () => {
          throw new Error('always')
        },
        RunsHandler: ({ number }) => seen.push(number),
      })
      await running.events.publish(new Happened({ number: 1 }))
      await until(() => seen.length === 1 && running.events.stats().failed >= 1)
      assert.deepEqual(seen, [1])
    },
  )

  contract('NUL and lone surrogates arrive as they were published', async (bench) => {
    const text = 'a\0b\ud800c\udc00 \ud83d\ude00'
    const seen: string[] = []
    const handler = handlerClass('SaidHandler', ({ text }: Said) => seen.push(text), Said)
    await using running = await start(bench.create(), {}, { handlers: [handler] })
    await running.events.publish(new Said({ text }))
    await bench.transaction?.((tx) => publish(running, new Said({ text }), tx))
    const expected = bench.transaction ? [text, text] : [text]
    await bench.until(() => seen.length === expected.length)
    assert.deepEqual(seen, expected)
  })

  contract('a handler whose slots are taken holds up no other one', async ({ create, until }) => {
    let running = 0
    let most = 0
    let slow = 0
    let fast = 0
    let release: () => void = () => {}
    const gate = new Promise<void>((resolve) => (release = resolve))
    await using app = await start(create(), {
      SlowHandler: async () => {
        most = Math.max(most, ++running)
        await gate
        running--
        slow++
      },
      FastHandler: async () => void fast++,
    })
    for (let number = 0; number < 40; number++) await app.events.publish(new Happened({ number }))
    await until(() => fast === 40)
    assert.equal(slow, 0)
    release()
    await until(() => slow === 40)
    assert.equal(most, 10)
  })

  contract(
    'the trace context of the publisher is the parent of the first attempt',
    async ({ create, until }) => {
      const { tracing, deliveries } = recordTraces()
      await using running = await start(create(), { OneHandler: () => 'kept' }, { tracing })
      const event = new Happened({ number: 1 })
      tracing.traceparent = traceparent
      await running.events.publish(event)
      tracing.traceparent = 'malformed'
      await running.events.publish(new Happened({ number: 2 }))
      await until(() => running.events.stats().handled === 2)
      const first = { type: 'contract.happened', handler: 'app.OneHandler', attempt: 1 }
      const isFirst = ({ eventId }: TracedDelivery) => eventId === event.eventId
      assert.deepEqual(deliveries.filter(isFirst), [
        { ...first, eventId: event.eventId, parent: traceparent },
      ])
      assert.deepEqual(
        deliveries.filter((one) => !isFirst(one)).map(({ parent, link }) => [parent, link]),
        [[undefined, undefined]],
      )
    },
  )
}

/** What holds for those that keep events. */
function durableTransport(contract: Contract): void {
  for (const isNotifying of [false, true]) {
    const notified = isNotifying ? ', also where its owner notifies after the commit' : ''
    contract(
      `a committed transaction delivers, a rolled-back one delivers nothing${notified}`,
      async ({ create, until, transaction }) => {
        if (!transaction) return
        const seen: number[] = []
        await using running = await start(create(), { OneHandler: ({ number }) => seen.push(number) })
        const notices: (() => void)[] = []
        const publishIn = (number: number) => async (tx: Tx) =>
          publish(running, new Happened({ number }), isNotifying ? notifying(tx, notices) : tx)
        await assert.rejects(
          transaction(async (tx) => {
            await publishIn(1)(tx)
            throw new Error('rolled back')
          }),
          /rolled back/,
        )
        await transaction(publishIn(2))
        for (const notify of notices) notify()
        await until(() => seen.length === 1)
        await transaction(publishIn(3)) // an owner that dies notifies nobody; what was published before would have come before
        await until(() => seen.length === 2)
        assert.deepEqual(seen, [2, 3])
        await running.close()
        for (const notify of notices) notify()
      },
    )
  }

  contract('each event is handled once while nothing fails', async ({ create, until }) => {
    const seen: number[] = []
    await using running = await start(create(), {
      OneHandler: async ({ number }) => {
        await delay(number % 7)
        seen.push(number)
      },
    })
    const numbers = Array.from({ length: 200 }, (_, index) => index)
    for (const number of numbers) await running.events.publish(new Happened({ number }))
    await until(() => seen.length >= numbers.length)
    await delay(700) // longer than the lease of a quick fixture
    assert.deepEqual(
      seen.toSorted((a, b) => a - b),
      numbers,
    )
  })

  contract(
    'a failed delivery is tried again until it succeeds, with a link to the trace of the publisher',
    async (bench) => {
      const { tracing, deliveries } = recordTraces()
      tracing.traceparent = traceparent
      await using running = await start(
        bench.create(),
        {
          FlakyHandler: () => {
            if (deliveries.at(-1)?.attempt === 1) throw new Error('first attempt')
          },
        },
        { tracing },
      )
      const published = [new Happened({ number: 1 }), new Happened({ number: 2 })] as const
      await running.events.publish(published[0])
      await bench.until(() => running.events.stats().handled === 1)
      if (bench.transaction) await bench.transaction((tx) => publish(running, published[1], tx))
      else await running.events.publish(published[1])
      await bench.until(() => running.events.stats().handled === 2)
      assert.deepEqual(
        deliveries.map(({ eventId, attempt, parent, link }) => ({ eventId, attempt, parent, link })),
        published.flatMap(({ eventId }) => [
          { eventId, attempt: 1, parent: traceparent, link: undefined },
          { eventId, attempt: 2, parent: undefined, link: traceparent },
        ]),
      )
      assert.deepEqual(await running.events.deadLetters?.list(), [])
    },
  )

  contract(
    'a poison message becomes a dead letter that can be replayed and discarded',
    async ({ create, until }) => {
      let poisoned = true
      const handled: number[] = []
      await using running = await start(create(), {
        PoisonHandler: ({ number }) => {
          if (poisoned) throw new Error('cannot digest')
          handled.push(number)
        },
      })
      const { deadLetters } = running.events
      assert.ok(deadLetters)
      await running.events.publish(new Happened({ number: 1 }))
      await running.events.publish(new Happened({ number: 2 }))
      await until(async () => (await deadLetters.list()).length === 2)
      for (const limit of [Number.NaN, Infinity, -1, 0, 1.5])
        await assert.rejects(deadLetters.list(limit), { code: 'ARGUMENT' }, String(limit))
      assert.equal((await deadLetters.list(1)).length, 1)
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

/** The transaction of an owner who notifies after the commit, which those of SQLite need not. */
function notifying(tx: Tx, notices: (() => void)[]): Tx {
  if (tx.kind === 'sync') return tx
  return {
    kind: 'async',
    query: (sql, params) => tx.query(sql, params),
    afterCommit: (notify) => void notices.push(notify),
  }
}
