/** The contract must catch transports that are wrong: each of these breaks one promise of `inProcess()`. */
import { inProcess } from '@fastify-modular/core'
import type { EventTransport } from '#src/events/transport.js'
import { eventTransportContract } from '@fastify-modular/core/testing'
import { test } from 'tap'

/** The rules that a transport breaks, with what the contract says about them. */
async function failuresOf(create: () => EventTransport, patience = 4000): Promise<Map<string, unknown>> {
  const failed = new Map<string, unknown>()
  const running: Promise<void>[] = []
  eventTransportContract(
    (name, run) => running.push(run().catch((error: unknown) => void failed.set(name, error))),
    () => ({ create }),
    { patience },
  )
  await Promise.all(running)
  return failed
}

function broken(change: (transport: EventTransport) => Partial<EventTransport>): () => EventTransport {
  return () => {
    const transport = inProcess()
    return { ...transport, ...change(transport) }
  }
}

const transports: Readonly<Record<string, (transport: EventTransport) => Partial<EventTransport>>> = {
  'announces what the bus announces': (transport) => {
    let announce: ((type: string, eventId: string) => void) | undefined
    return {
      open(context) {
        announce = (type, eventId) => context.announce('published', { event: type, eventId })
        return transport.open(context)
      },
      publish(event, options) {
        announce?.('contract.happened', event.eventId)
        return transport.publish(event, options)
      },
    }
  },
  'announces nothing': (transport) => ({
    open: (context) => transport.open({ ...context, announce: () => {} }),
  }),
  'delivers before the start': (transport) => ({
    async subscribe(handler) {
      await transport.subscribe(handler)
      await transport.start()
    },
  }),
  'does not wait for handlers at its end': () => ({ drain: () => {} }),
  'delivers what is published when modules close': (transport) => ({
    drain: () => {},
    close: () => transport.drain(),
  }),
  'drops the trace context': (transport) => ({ publish: (event) => transport.publish(event, {}) }),
  'promises to outlive its process and does not': () => ({
    removedHandlers: { list: async () => [], unsubscribe: async () => false },
  }),
}

test('inProcess() breaks no rule', async (t) => {
  t.same([...(await failuresOf(() => inProcess(), 60_000))], [])
})

for (const [fault, change] of Object.entries(transports)) {
  test(`a transport that ${fault} does not pass`, async (t) => {
    t.ok((await failuresOf(broken(change), 1000)).size > 0)
  })
}

test('the condition that never came true is quoted before a test runner gives up', async (t) => {
  const failed = await failuresOf(
    broken(() => ({ start: () => {} })),
    5000,
  )
  t.match(failed.get('an event reaches every handler of its type, and no other'), {
    message: 'after 5000 ms this was not true: () => seen.length === 2',
  })
})

test('a transport that never closes fails its tests, and is not waited for', async (t) => {
  const failed = await failuresOf(
    broken(() => ({ close: () => new Promise(() => {}) })),
    200,
  )
  t.match(failed.get('an application that refuses to start delivers nothing'), {
    message: 'open, publish, start or close had not ended after 700 ms',
  })
})
