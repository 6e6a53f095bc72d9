import Fastify from 'fastify'
import { Type } from '@sinclair/typebox'
import { test } from 'tap'
import { defineEvent, events, inProcess, modules, type SyncTx } from '@fastify-modular/core'
import { NoteShared } from './fixtures/events.js'

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => void setImmediate(resolve))
}

async function appOf(t: { teardown(close: () => unknown): unknown }) {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(events)
  return app
}

test('a payload that does not fit its schema is refused where it is published, without its values', async (t) => {
  const app = await appOf(t)
  const wrong = new NoteShared({ noteId: 5, by: 'top-secret' } as never)
  const failure: Error = (await app.events.publish(wrong).catch((error: Error) => error)) as Error
  t.match(failure, { code: 'FMOD_CORE_INVALID_EVENT', message: /notes\.shared.*\/noteId/ })
  t.notMatch(failure.message, /top-secret/)
})

test('a value that is not an event is refused', async (t) => {
  const app = await appOf(t)
  for (const value of [null, undefined, {}, 'x', new Date(0)]) {
    await t.rejects(app.events.publish(value as never), { code: 'FMOD_CORE_INVALID_EVENT' })
  }
})

test('a second class of a type is refused', async (t) => {
  const app = await appOf(t)
  class Twin extends defineEvent('notes.shared', Type.Object({})) {}
  await app.events.publish(new NoteShared({ noteId: '1', by: 'a' }))
  await t.rejects(app.events.publish(new Twin({})), {
    code: 'FMOD_CORE_DUPLICATE_EVENT_TYPE',
    message: /notes\.shared/,
  })
})

test('a transport without transactions refuses to publish in one', async (t) => {
  const app = await appOf(t)
  const event = new NoteShared({ noteId: '1', by: 'a' })
  const sync: SyncTx = { kind: 'sync', run: () => t.fail('nothing is written') }
  t.throws(() => app.events.publish(event, { tx: sync }), { code: 'FMOD_CORE_TRANSACTION_NOT_SUPPORTED' })
  const tx = { kind: 'async', query: async () => ({ rows: [] }) } as const
  await t.rejects(app.events.publish(event, { tx }), { code: 'FMOD_CORE_TRANSACTION_NOT_SUPPORTED' })
})

test('a transport that fails to start or to end keeps no module from closing', async (t) => {
  const messages: string[] = []
  const write = (line: string) => void messages.push((JSON.parse(line) as { msg: string }).msg)
  const app = Fastify({ logger: { level: 'error', stream: { write } } })
  const fail = async () => {
    throw new Error('the broker is gone')
  }
  let closed = false
  await app.register(events, { transport: { ...inProcess(), start: fail, drain: fail } })
  await app.register(modules, { modules: [{ name: 'm', onClose: () => void (closed = true) }] })
  await app.ready()
  await app.close()
  t.ok(closed)
  t.same(messages, [
    'events are not delivered: their transport did not start',
    'event transport did not wait for its handlers',
  ])
})

test('a start that ends after the application, or never, holds up no close, and is logged where it fails', async (t) => {
  const messages: string[] = []
  const write = (line: string) => void messages.push((JSON.parse(line) as { msg: string }).msg)
  let fail = () => {}
  const late = new Promise<void>((_resolve, reject) => (fail = () => reject(new Error('too late'))))
  const run = async (start: () => Promise<void>) => {
    const app = Fastify({ logger: { level: 'error', stream: { write } } })
    const closed: string[] = []
    const module = { name: 'm', onClose: () => void closed.push('m') }
    const drain = () => void closed.push('transport')
    await app.register(events, { transport: { ...inProcess(), start, drain } })
    await app.register(modules, { modules: [module] })
    await app.ready()
    await app.close()
    t.same(closed, ['transport', 'm'])
  }
  await Promise.all([run(() => new Promise(() => {})), run(() => late)])
  t.same(messages, [])
  fail()
  await turns()
  t.same(messages, ['events are not delivered: their transport did not start'])
})

test('an application whose transport does not open has no events', async (t) => {
  const app = Fastify()
  const transport = {
    ...inProcess(),
    open: () => Promise.reject(new Error('the broker is gone')),
    close: () => void t.fail('what does not open is not closed'),
  }
  await t.rejects(async () => app.register(events, { transport }), /the broker is gone/)
  t.notOk(app.hasDecorator('events'))
  await app.close().catch(() => {})
})

test('registering events twice, or after modules, is a boot error', async (t) => {
  const app = await appOf(t)
  await t.rejects(async () => app.register(events), { code: 'FMOD_CORE_EVENTS_REGISTERED_TWICE' })
  const late = Fastify()
  t.teardown(() => late.close())
  await late.register(modules, { modules: [] })
  await t.rejects(async () => late.register(events), { code: 'FMOD_CORE_EVENTS_REGISTERED_TWICE' })
})

test('handlers of one name from two places are a boot error: they would share a queue', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const handlerOf = (handle: () => void) =>
    class MailHandler {
      static readonly event = NoteShared
      handle = handle
    }
  await app.register(events, { handlers: [handlerOf(() => {})] })
  const second = { name: 'app', handlers: [handlerOf(() => {})] }
  await t.rejects(async () => app.register(modules, { modules: [second] }), {
    code: 'FMOD_CORE_INVALID_HANDLER',
    message: /app\.MailHandler is listed twice/,
  })
})

test('events of a scope are delivered after the last onReady of all, and never where one refuses the start', async (t) => {
  for (const refuses of [false, true]) {
    const order: string[] = []
    class SharedHandler {
      static event = NoteShared
      handle = () => void order.push('handled')
    }
    const app = Fastify()
    t.teardown(() => app.close())
    app.register(async (scope) => {
      await scope.register(events, { handlers: [SharedHandler] })
      await scope.register(async (first) => {
        first.addHook('onReady', async () => scope.events.publish(new NoteShared({ noteId: '1', by: 'a' })))
      })
      await scope.register(async (second) => {
        second.addHook('onReady', async () => {
          await turns()
          order.push('ready')
          if (refuses) throw new Error('refused')
        })
      })
    })
    const started = await Promise.resolve(app.ready()).then(
      () => true,
      () => false,
    )
    t.equal(started, !refuses)
    await turns()
    t.same(order, refuses ? ['ready'] : ['ready', 'handled'])
  }
})
