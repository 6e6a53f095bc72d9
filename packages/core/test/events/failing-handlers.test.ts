import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { test, type Test } from 'tap'
import { inProcess } from '@fastify-modular/core'
import type { EventTransport } from '#src/events/transport.js'
import { sqliteOutbox } from '@fastify-modular/core/events/sqlite-outbox'
import { until } from '@fastify-modular/test-support/until'
import { deliver } from '#src/events/durable/attempt.js'
import { closingModule, handlerOf, startApp } from './fixtures/app.js'
import { NoteShared } from './fixtures/events.js'

const shared = () => new NoteShared({ noteId: 'n1', by: 'alice' })

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
  let handled = 0
  const handlers = [
    handlerOf(NoteShared, handle, 'FailingHandler'),
    handlerOf(NoteShared, () => handled++, 'OtherHandler'),
  ]
  const { app, errors } = await startApp(t, { transport, handlers })
  await app.events.publish(shared())
  await app.events.publish(shared())
  await until(() => handled === 2)
  await app.close()
  t.equal(app.events.stats().failed, 2)
  t.match(errors, [{ handler: 'app.FailingHandler' }, { handler: 'app.FailingHandler' }], 'each is logged')
  t.notMatch(JSON.stringify(errors), /alice/, 'payloads stay out of the log')
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

for (const [what, makeError] of Object.entries(revealing)) {
  test(`the log and the dead letter of ${what} keep its message, not its data`, async (t) => {
    const fail = () => {
      throw makeError()
    }
    for (const createTransport of Object.values(transports)) {
      const transport = createTransport()
      const { app, errors } = await startApp(t, { transport, handlers: [handlerOf(NoteShared, fail)] })
      await app.events.publish(shared())
      await until(async () => errors.length > 0 && (await app.events.deadLetters?.list())?.length !== 0)
      const deadLetters = (await app.events.deadLetters?.list()) ?? 'Failed'
      for (const kept of [JSON.stringify(errors), JSON.stringify(deadLetters)]) {
        t.match(kept, 'Failed')
        t.notMatch(kept, 'hunter2')
      }
      await app.close()
    }
  })
}

test("a stored event that is not JSON, or not the handler's, fails as often as any other may", async (t) => {
  const database = new Database(':memory:')
  const transport = sqliteOutbox({ database, pollInterval: 5, maxAttempts: 2, retryDelay: 0 })
  const { app } = await startApp(t, { transport, handlers: [handlerOf(NoteShared)], isReady: false })
  await app.events.publish(shared())
  database.exec(`UPDATE event_outbox SET payload = '{'`)
  await app.events.publish(shared())
  database.exec(`UPDATE event_outbox SET type = 'notes.moved' WHERE payload <> '{'`)
  await app.events.publish(shared())
  await app.ready()
  await until(() => app.events.stats().handled + app.events.stats().deadLettered === 3)
  await app.close()
  t.match(await app.events.deadLetters?.list(), [
    { handler: 'app.OneHandler', attempts: 2, error: /^SyntaxError/ },
    { attempts: 2, error: /The handler app.OneHandler handles notes.shared, and this event is notes.moved/ },
  ])
  t.match(app.events.stats(), { handled: 1, failed: 4, deadLettered: 2 })
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
  let begin: (signal: AbortSignal) => void = () => {}
  const begun = new Promise<AbortSignal>((resolve) => (begin = resolve))
  const hang = (_: NoteShared, signal: AbortSignal) => {
    begin(signal)
    return new Promise(() => {})
  }
  const before = timers()
  const transport = sqliteOutbox({ database: new Database(':memory:'), closeTimeout: 20 })
  const { app } = await startApp(t, { transport, handlers: [handlerOf(NoteShared, hang)] })
  await app.events.publish(shared())
  const signal = await begun
  await app.close()
  t.ok(signal.aborted)
  t.equal(timers(), before)
})

test('modules close after a handler that goes on when its time is over, which is waited for like any other', async (t) => {
  for (const closeTimeout of [60_000, 20]) {
    const order: string[] = []
    let release = () => {}
    const handle = async () => {
      await new Promise<void>((resolve) => (release = resolve))
      order.push('handler')
      throw new Error('late')
    }
    const database = new Database(':memory:')
    const { app } = await startApp(t, {
      transport: sqliteOutbox({ database, attemptTimeout: 1, maxAttempts: 1, closeTimeout }),
      handlers: [handlerOf(NoteShared, handle)],
      modules: [closingModule(() => order.push('module'))],
    })
    await app.events.publish(shared())
    await until(() => app.events.stats().deadLettered === 1)
    const closed = app.close()
    await delay(1)
    if (closeTimeout > 20) release()
    await closed
    t.same(order, closeTimeout > 20 ? ['handler', 'module'] : ['module'])
    release()
  }
})
