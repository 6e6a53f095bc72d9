import Fastify from 'fastify'
import { Type } from '@sinclair/typebox'
import { test } from 'tap'
import { defineEvent, events, sqliteTx, pgTx, inProcess, modules } from '@fastify-modular/core'
import type { SyncTx } from '@fastify-modular/core/events/durable'
import { closingModule, handlerOf, startApp } from './fixtures/app.js'
import { changedTransport } from './fixtures/changed-transport.js'
import { NoteShared } from './fixtures/events.js'

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => void setImmediate(resolve))
}

test('a payload that does not fit its schema is refused where it is published, without its values', async (t) => {
  const { app } = await startApp(t, { isReady: false })
  const wrong = new NoteShared({ noteId: 5, by: 'top-secret' } as never)
  const failure: Error = (await app.events.publish(wrong).catch((error: Error) => error)) as Error
  t.match(failure, { code: 'FMOD_CORE_INVALID_EVENT', message: /notes\.shared.*\/noteId/ })
  t.notMatch(failure.message, /top-secret/)
})

test('a value that no event class made is refused', async (t) => {
  const { app } = await startApp(t, { isReady: false })
  for (const value of [null, undefined, 'x', 5, {}, [], new Date(0), Object.create(null)])
    await t.rejects(app.events.publish(value as never), { code: 'FMOD_CORE_INVALID_EVENT' })
})

test('a second class of a type is refused', async (t) => {
  const { app } = await startApp(t, { isReady: false })
  class Twin extends defineEvent('notes.shared', Type.Object({})) {}
  await app.events.publish(new NoteShared({ noteId: '1', by: 'a' }))
  await t.rejects(app.events.publish(new Twin({})), {
    code: 'FMOD_CORE_DUPLICATE_EVENT_TYPE',
    message: /notes\.shared/,
  })
})

test('a transport without transactions refuses to publish in one', async (t) => {
  const { app } = await startApp(t, { isReady: false })
  const event = new NoteShared({ noteId: '1', by: 'a' })
  const sync: SyncTx = { kind: 'sync', run: () => t.fail('nothing is written') }
  t.throws(() => app.events.publish(event, { tx: sync }), { code: 'FMOD_CORE_TRANSACTION_NOT_SUPPORTED' })
  const tx = { kind: 'async', query: async () => ({ rows: [] }) } as const
  await t.rejects(app.events.publish(event, { tx }), { code: 'FMOD_CORE_TRANSACTION_NOT_SUPPORTED' })
})

test('FMOD_CORE_INVALID_TRANSACTION: publish with an argument that has no transaction is refused at once', async (t) => {
  const { app } = await startApp(t, { isReady: false })
  const event = new NoteShared({ noteId: '1', by: 'a' })
  const client = { query: async () => ({ rows: [] }) }
  const publish = (...args: unknown[]): unknown => Reflect.apply(app.events.publish, app.events, args)
  const forgotten = [
    { tx: undefined },
    { tx: null },
    {},
    pgTx(client),
    { tx: client },
    { tx: { kind: 'sync' } },
  ]
  for (const options of [...forgotten, sqliteTx({ prepare: () => ({ run: () => {} }) }), null, 0, 'tx'])
    t.throws(() => publish(event, options), { code: 'FMOD_CORE_INVALID_TRANSACTION' })
  t.equal(app.events.stats().published, 0)
  await publish(event, undefined)
  t.equal(app.events.stats().published, 1)
})

test('a transport that fails to start or to end keeps no module from closing', async (t) => {
  const fail = async () => {
    throw new Error('the broker is gone')
  }
  let closed = false
  const { app, errors } = await startApp(t, {
    transport: changedTransport(() => ({ start: fail, drain: fail })),
    modules: [closingModule(() => (closed = true))],
  })
  await app.close()
  t.ok(closed)
  t.match(errors, [
    { msg: 'events are not delivered: their transport did not start' },
    { msg: 'event transport did not wait for its handlers' },
  ])
  t.equal(errors.length, 2)
})

test('a start that ends after the application, or never, holds up no close, and is logged where it fails', async (t) => {
  let fail = () => {}
  const late = new Promise<void>((_resolve, reject) => (fail = () => reject(new Error('too late'))))
  const run = async (start: () => Promise<void>) => {
    const closed: string[] = []
    const { app, errors } = await startApp(t, {
      transport: changedTransport(() => ({ start, drain: () => void closed.push('transport') })),
      modules: [closingModule(() => closed.push('m'))],
    })
    await app.close()
    t.same([closed, errors], [['transport', 'm'], []])
    return errors
  }
  const [, errors] = await Promise.all([run(() => new Promise(() => {})), run(() => late)])
  fail()
  await turns()
  t.match(errors, [{ msg: 'events are not delivered: their transport did not start' }])
})

test('an application whose transport does not open has no events', async (t) => {
  const app = Fastify()
  const transport = {
    ...inProcess(),
    open: () => Promise.reject(new Error('the broker is gone')),
  }
  await t.rejects(async () => app.register(events, { transport }), /the broker is gone/)
  t.notOk(app.hasDecorator('events'))
  await app.close().catch(() => {})
})

test('registering events twice, or after modules, is a boot error', async (t) => {
  const { app } = await startApp(t, { isReady: false })
  await t.rejects(async () => app.register(events), { code: 'FMOD_CORE_REGISTERED_TWICE' })
  const late = Fastify()
  t.teardown(() => late.close())
  await late.register(modules, { modules: [] })
  await t.rejects(async () => late.register(events), { code: 'FMOD_CORE_REGISTERED_TWICE' })
})

test('handlers of one name from two places are a boot error: they would share a queue', async (t) => {
  const handlers = [handlerOf(NoteShared)]
  await t.rejects(startApp(t, { handlers, modules: [{ name: 'app', handlers: [handlerOf(NoteShared)] }] }), {
    code: 'FMOD_CORE_INVALID_HANDLER',
    message: /app\.OneHandler is listed twice/,
  })
})
