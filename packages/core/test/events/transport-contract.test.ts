/** The rules must catch transports that are wrong: each of these breaks one promise of `inProcess()`. */
import { inProcess } from '@fastify-modular/core'
import type { EventTransport } from '#src/events/transport.js'
import { everyTransport } from '#src/testing/transport-contract.js'
import { defineRules } from '#src/testing/transport-harness.js'
import { eventTransportContract } from '@fastify-modular/core/testing'
import { test } from 'tap'
import { changedTransport } from './fixtures/changed-transport.js'
import { deliveries } from './fixtures/deliveries.js'
import { lifeCycle } from './fixtures/life-cycle.js'

/** The rules that a transport breaks, with what they say about them. */
async function failuresOf(create: () => EventTransport, patience = 4000): Promise<Map<string, unknown>> {
  const failed = new Map<string, unknown>()
  const running: Promise<void>[] = []
  const contract = defineRules(
    (name, run) => running.push(run().catch((error: unknown) => void failed.set(name, error))),
    () => ({ create }),
    { patience },
  )
  everyTransport(contract)
  deliveries(contract)
  lifeCycle(contract)
  await Promise.all(running)
  return failed
}

const { open } = inProcess()

const transports: Readonly<Record<string, EventTransport>> = {
  'announces what the bus announces': {
    ...inProcess(),
    open(context) {
      const again = (event: { readonly eventId: string }) =>
        context.announce('published', { event: 'contract.happened', eventId: event.eventId })
      return changedTransport((opened) => ({
        publish(event, options) {
          again(event)
          return opened.publish(event, options)
        },
      })).open(context)
    },
  },
  'announces nothing': changedTransport(
    () => ({}),
    (context) => open({ ...context, announce: () => {} }),
  ),
  'delivers before the start': changedTransport((opened) => ({
    async subscribe(handlers, expected) {
      await opened.subscribe(handlers, expected)
      await opened.start()
    },
  })),
  'does not wait for handlers at its end': changedTransport(() => ({ drain: () => {} })),
  'delivers what is published when modules close': changedTransport((opened) => ({
    drain: () => {},
    close: () => opened.drain(),
  })),
  'drops the trace context': changedTransport((opened) => ({
    publish: (event) => opened.publish(event, {}),
  })),
}

test('inProcess() breaks no rule', async (t) => {
  t.same([...(await failuresOf(() => inProcess(), 60_000))], [])
})

for (const [fault, transport] of Object.entries(transports)) {
  test(`a transport that ${fault} does not pass`, async (t) => {
    t.ok((await failuresOf(() => transport, 1000)).size > 0)
  })
}

test('a transport that keeps nothing does not pass the contract of those that do', async (t) => {
  const failed: string[] = []
  const running: Promise<unknown>[] = []
  eventTransportContract(
    (name, run) => running.push(run().catch(() => failed.push(name))),
    () => ({ create: () => inProcess() }),
    { patience: 1000 },
  )
  await Promise.all(running)
  t.ok(failed.includes('a poison message becomes a dead letter that can be replayed and discarded'))
})

test('the condition that never came true is quoted before a test runner gives up', async (t) => {
  const failed = await failuresOf(() => changedTransport(() => ({ start: () => {} })), 5000)
  t.match(failed.get('an event reaches every handler of its type, and no other'), {
    message: 'after 5000 ms this was not true: () => seen.length === 2',
  })
})

test('a transport that never closes fails its tests, and is not waited for', async (t) => {
  const failed = await failuresOf(() => changedTransport(() => ({ close: () => new Promise(() => {}) })), 200)
  t.match(failed.get('an application that refuses to start delivers nothing'), {
    message: 'open, publish, start or close had not ended after 700 ms',
  })
})
