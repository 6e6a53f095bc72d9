import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import Fastify, { type FastifyInstance } from 'fastify'
import { test, type Test } from 'tap'
import {
  defineEvent,
  defineModule,
  events,
  type EventTransport,
  inProcess,
  modules,
} from '@fastify-modular/core'
import { sqliteOutbox } from '@fastify-modular/core/events/sqlite-outbox'
import { until } from '@fastify-modular/test-support/until'
import { eventsOf } from '@fastify-modular/core/testing'
import { Type } from '@sinclair/typebox'
import { deliver } from '#src/events/durable/attempt.js'

const explode = (): never => {
  throw new Error('trap')
}

function revokedProxy(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

/** Values on which loggers, `instanceof` and string conversion throw. */
const thrown: Readonly<Record<string, () => unknown>> = {
  'a frozen error': () => Object.freeze(new Error('frozen')),
  'a revoked proxy': revokedProxy,
  'a getter that throws': () => Object.defineProperty(new Error(), 'message', { get: explode }),
  'a toString that throws': () => ({ toString: explode }),
  undefined: () => undefined,
}

const transports: Readonly<Record<string, () => EventTransport>> = {
  inProcess: () => inProcess(),
  sqliteOutbox: () => sqliteOutbox({ database: new Database(':memory:'), maxAttempts: 1, pollInterval: 5 }),
}

async function othersStillRun(t: Test, transport: EventTransport, handle: () => unknown): Promise<void> {
  class Happened extends defineEvent('happened', Type.Object({})) {}
  class FailingHandler {
    static event = Happened
    handle = handle
  }
  class OtherHandler {
    static event = Happened
    handle() {}
  }
  const logs: string[] = []
  const app = Fastify({ logger: { level: 'error', stream: { write: (line) => void logs.push(line) } } })
  t.teardown(() => app.close())
  using record = eventsOf(app)
  await app.register(events, { transport, handlers: [FailingHandler, OtherHandler] })
  await app.ready()
  await app.events.publish(new Happened({}))
  await app.events.publish(new Happened({}))
  await record.waitFor('app.OtherHandler', 2, 20_000)
  await app.close()
  t.equal(app.events.stats().failed, 2)
  t.equal(logs.length, 2, 'each failure is logged')
}

for (const [name, createTransport] of Object.entries(transports)) {
  test(`decision 50: whatever a handler throws, ${name} goes on`, async (t) => {
    for (const [what, make] of Object.entries(thrown)) {
      await t.test(`${what}, thrown`, (sub) =>
        othersStillRun(sub, createTransport(), () => {
          throw make() // oxlint-disable-line typescript/only-throw-error -- anything may be thrown
        }),
      )
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- anything may be thrown
      await t.test(`${what}, rejected`, (sub) =>
        othersStillRun(sub, createTransport(), () => Promise.reject(make())),
      )
    }
    await t.test('a then that throws', (sub) =>
      // oxlint-disable-next-line unicorn/no-thenable -- what a careless handler may return
      othersStillRun(sub, createTransport(), () => ({ then: explode })),
    )
  })
}

/** What drizzle and HTTP clients throw: their errors carry rows and credentials. */
const revealing: Readonly<Record<string, () => Error>> = {
  'a failed query': () =>
    Object.assign(new Error('Failed query: insert into "users" values ($1)\nparams: hunter2'), {
      query: 'insert into "users" values ($1)',
      params: ['hunter2'],
    }),
  'a failed request': () =>
    Object.assign(new Error('Failed'), { config: { headers: { authorization: 'Bearer hunter2' } } }),
}

/** Waits until a handler has failed and the outcome is recorded. */
async function failed(app: FastifyInstance): Promise<void> {
  const isRecorded = async () => (await app.events.deadLetters?.list())?.length !== 0
  for (let turn = 0; turn < 2000; turn++) {
    if (app.events.stats().failed > 0 && (await isRecorded())) return
    await delay(5)
  }
}

for (const [what, makeError] of Object.entries(revealing)) {
  test(`the log and the dead letter of ${what} keep its message, not its data`, async (t) => {
    class Happened extends defineEvent('happened', Type.Object({})) {}
    class FailingHandler {
      static event = Happened
      handle() {
        throw makeError()
      }
    }
    for (const createTransport of Object.values(transports)) {
      const logs: string[] = []
      const app = Fastify({ logger: { level: 'error', stream: { write: (line) => void logs.push(line) } } })
      t.teardown(() => app.close())
      await app.register(events, { transport: createTransport(), handlers: [FailingHandler] })
      await app.ready()
      await app.events.publish(new Happened({}))
      await failed(app)
      const deadLetters = JSON.stringify((await app.events.deadLetters?.list()) ?? 'Failed')
      await app.close()
      for (const kept of [logs.join(''), deadLetters]) {
        t.match(kept, 'Failed')
        t.notMatch(kept, 'hunter2')
      }
    }
  })
}

test('decision 49: a close hook that throws a frozen error does not keep the others from closing', async (t) => {
  const closed: string[] = []
  const app = Fastify({ logger: { level: 'error', stream: { write: () => {} } } })
  const first = defineModule({ name: 'first', onClose: () => void closed.push('first') })
  const last = defineModule({
    name: 'last',
    onClose() {
      throw Object.freeze(new Error('frozen'))
    },
  })
  await app.register(modules, { modules: [first, last] })
  await app.ready()
  await app.close()
  t.same(closed, ['first'])
})

test('an application that failed to boot handles nothing', async (t) => {
  class Happened extends defineEvent('happened', Type.Object({})) {}
  let handled = 0
  class CountHandler {
    static event = Happened
    handle() {
      handled++
    }
  }
  const app = Fastify()
  await app.register(events, { handlers: [CountHandler] })
  await app.events.publish(new Happened({}))
  app.register(async () => {
    throw new Error('boot failed')
  })
  await t.rejects(async () => app.ready(), /boot failed/)
  await app.close()
  t.equal(handled, 0)
})

test('a stored event that is not JSON fails as often as any other may, and others are delivered', async (t) => {
  class Happened extends defineEvent('happened', Type.Object({})) {}
  class OneHandler {
    static event = Happened
    handle() {}
  }
  const database = new Database(':memory:')
  const app = Fastify()
  t.teardown(() => app.close())
  const transport = sqliteOutbox({ database, pollInterval: 5, maxAttempts: 2, retryDelay: 0 })
  await app.register(events, { transport, handlers: [OneHandler] })
  await app.events.publish(new Happened({}))
  database.exec(`UPDATE event_outbox SET payload = '{'`)
  await app.events.publish(new Happened({}))
  using record = eventsOf(app)
  await app.ready()
  await record.waitFor('app.OneHandler', 1, 20_000)
  await until(() => app.events.stats().deadLettered === 1)
  await app.close()
  t.match(await app.events.deadLetters?.list(), [{ handler: 'app.OneHandler', attempts: 2 }])
  t.match(app.events.stats(), { handled: 1, failed: 2, deadLettered: 1 })
})

test('an attempt leaves no listener on the signal of its transport', async (t) => {
  let listening = 0
  const counted = Object.create(new AbortController().signal, {
    aborted: { value: false },
    addEventListener: { value: () => listening++ },
    removeEventListener: { value: () => listening-- },
  }) as AbortSignal
  const context = { announce() {}, revive: () => ({ eventId: '1' }) } as never
  const job = { id: 1, eventId: '1', type: 'x', payload: '{}', traceparent: null, failures: 0 }
  const given: boolean[] = []
  const handler = {
    name: 'x',
    event: { type: 'x' },
    handle: (_: never, signal: AbortSignal) => void given.push(signal.aborted),
  } as never
  const options = { maxAttempts: 1, retryDelay: 1, attemptTimeout: 1000 }
  const attempt = { handler, job, options }
  const slotsWith = (signal: AbortSignal) => ({ signal, isClosing: signal.aborted, waitFor: () => {} })
  t.same(await deliver(context, { ...attempt, slots: slotsWith(counted) }), { kind: 'handled' })
  t.equal(listening, 0)
  t.same(await deliver(context, { ...attempt, slots: slotsWith(AbortSignal.abort()) }), { kind: 'handled' })
  t.same(given, [false, true])
})

test('what a handler throws during a close is logged, and no failed attempt; its time-out is one', async (t) => {
  const lines: unknown[] = []
  const announced: string[] = []
  const context = {
    announce: (stage: string) => void announced.push(stage),
    revive: () => ({ eventId: '1' }),
    log: { warn: (...line: unknown[]) => void lines.push(line) },
  } as never
  const job = { id: 1, eventId: '1', type: 'x', payload: '{}', traceparent: null, failures: 0 }
  const options = { maxAttempts: 2, retryDelay: 1, attemptTimeout: 1 }
  const closing = { signal: new AbortController().signal, isClosing: true, waitFor: () => {} }
  const attemptOf = (handle: () => unknown) => {
    const handler = { name: 'x', event: { type: 'x' }, handle } as never
    return { handler, job, options, slots: closing }
  }
  const throwing = attemptOf(() => {
    throw new Error('the pool is closed')
  })
  t.same(await deliver(context, throwing), { kind: 'released' })
  t.same(announced, [])
  t.match(lines, [
    [{ err: { message: 'the pool is closed' }, handler: 'x', eventId: '1' }, /during the close/],
  ])
  t.same(await deliver(context, { ...throwing, slots: { ...closing, signal: AbortSignal.abort() } }), {
    kind: 'released',
  })
  t.equal(lines.length, 1, 'what obeys the signal has nothing to report')
  const alive = setInterval(() => {}, 1000) // the time-out alone does not keep the process running
  t.teardown(() => clearInterval(alive))
  t.match(
    await deliver(
      context,
      attemptOf(() => new Promise(() => {})),
    ),
    { kind: 'retry', error: /1 ms/ },
  )
  t.same(announced, ['failed'])
})

test('a handler that never returns does not keep the process of a closed application running', async (t) => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  class Happened extends defineEvent('happened', Type.Object({})) {}
  class HangingHandler {
    static event = Happened
    handle(_: Happened, signal: AbortSignal) {
      begin(signal)
      return new Promise(() => {})
    }
  }
  let begin: (signal: AbortSignal) => void = () => {}
  const begun = new Promise<AbortSignal>((resolve) => (begin = resolve))
  const before = timers()
  const app = Fastify()
  const transport = sqliteOutbox({ database: new Database(':memory:'), closeTimeout: 20 })
  await app.register(events, { transport, handlers: [HangingHandler] })
  await app.ready()
  await app.events.publish(new Happened({}))
  const signal = await begun
  await app.close()
  t.ok(signal.aborted)
  t.equal(timers(), before)
})

test('modules close after a handler that goes on when its time is over, which is waited for like any other', async (t) => {
  class Happened extends defineEvent('happened', Type.Object({})) {}
  for (const closeTimeout of [60_000, 20]) {
    const order: string[] = []
    let release = () => {}
    class DeafHandler {
      static event = Happened
      async handle() {
        await new Promise<void>((resolve) => (release = resolve))
        order.push('handler')
        throw new Error('late')
      }
    }
    const app = Fastify()
    const database = new Database(':memory:')
    const transport = sqliteOutbox({ database, attemptTimeout: 1, maxAttempts: 1, closeTimeout })
    await app.register(events, { transport, handlers: [DeafHandler] })
    await app.register(modules, { modules: [{ name: 'm', onClose: () => void order.push('module') }] })
    await app.ready()
    await app.events.publish(new Happened({}))
    await until(() => app.events.stats().deadLettered === 1)
    const closing = app.close()
    await delay(1)
    if (closeTimeout > 20) release()
    await closing
    t.same(order, closeTimeout > 20 ? ['handler', 'module'] : ['module'])
    release()
  }
})
