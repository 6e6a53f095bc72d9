/** What a durable event transport must do, as tests that one on a queue of yours can run. Needs no test framework. */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Tx } from '../events/transport.ts'
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

/** What holds where several processes, or releases one after the other, share the storage. */
function severalProcesses(contract: Contract): void {
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
