import type { FastifyInstance } from 'fastify'
import { test } from 'tap'
import { defineEvent, inProcess } from '@fastify-modular/core'
import { Type } from '@sinclair/typebox'
import { closingModule, handlerOf, startApp } from './fixtures/app.js'
import { NoteDeleted, NoteShared } from './fixtures/events.js'

const shared = (noteId = 'n1') => new NoteShared({ noteId, by: 'alice' })
const turn = () => new Promise((resolve) => setImmediate(resolve))
const never = () => new Promise(() => {})
const full = { statusCode: 503, code: 'SERVICE_UNAVAILABLE', message: /notes\.shared/ }

test('S 6.2: a published event reaches every handler of its type once, after publish has returned', async (t) => {
  const seen: string[] = []
  const handlers = [
    handlerOf(NoteShared, ({ noteId }) => seen.push(`one ${noteId}`)),
    handlerOf(NoteShared, ({ noteId }) => seen.push(`two ${noteId}`), 'TwoHandler'),
    handlerOf(NoteDeleted, () => seen.push('deleted'), 'ThreeHandler'),
  ]
  const { app } = await startApp(t, { handlers })
  const handed = app.events.publish(shared())
  t.same(seen, [], 'no handler runs inside publish')
  await handed
  await turn()
  t.same(seen, ['one n1', 'two n1'])
})

test('closing delivers what was published, waits for handlers, then aborts their signal', async (t) => {
  const log: string[] = []
  let release: () => void = () => {}
  const gate = new Promise<void>((resolve) => (release = resolve))
  const handle = async (_: NoteShared, signal: AbortSignal) => {
    await gate
    log.push(`handled, aborted: ${signal.aborted}`)
  }
  const { app } = await startApp(t, { handlers: [handlerOf(NoteShared, handle)] })
  await app.events.publish(shared())
  const closing = app.close().then(() => log.push('closed'))
  await turn()
  release()
  await closing
  t.same(log, ['handled, aborted: false', 'closed'])
  await t.rejects(app.events.publish(shared()), { code: 'FMOD_CORE_EVENTS_CLOSED' })
})

test('a handler that never returns does not keep the application open', async (t) => {
  let aborted = false
  const handle = (_: NoteShared, signal: AbortSignal) => {
    signal.addEventListener('abort', () => (aborted = true))
    return never()
  }
  const transport = inProcess({ closeTimeout: 20 })
  const { app } = await startApp(t, { transport, handlers: [handlerOf(NoteShared, handle)] })
  await app.events.publish(shared())
  await app.close()
  t.ok(aborted)
})

test('an event that publishes itself again does not starve the event loop', async (t) => {
  let count = 0
  const again = () => new NoteDeleted({ noteId: 'n' })
  const handle = async () => {
    if (++count < 500) await app.events.publish(again())
  }
  const { app }: { app: FastifyInstance } = await startApp(t, { handlers: [handlerOf(NoteDeleted, handle)] })
  await app.events.publish(again())
  await turn()
  await turn()
  t.ok(count < 500, 'other work ran before the chain ended')
})

test('what waits for its handlers is bounded: publish rejects, and later events are taken again', async (t) => {
  let release: () => void = () => {}
  const gate = new Promise<void>((resolve) => (release = resolve))
  const seen: string[] = []
  const handle = async ({ noteId }: NoteShared) => {
    await gate
    seen.push(noteId)
  }
  const transport = inProcess({ concurrency: 2, maxWaiting: 3 })
  const { app } = await startApp(t, { transport, handlers: [handlerOf(NoteShared, handle)] })
  const publish = (noteId: string) => app.events.publish(shared(noteId))
  await publish('1')
  await publish('2')
  await turn() // these two run
  for (const noteId of ['3', '4', '5']) await publish(noteId)
  await t.rejects(publish('6'), full)
  t.equal(app.events.stats().published, 5, 'what was refused is not counted as published')
  release()
  for (let turns = 0; turns < 100 && seen.length < 5; turns++) await turn()
  await publish('7')
  for (let turns = 0; turns < 100 && seen.length < 6; turns++) await turn()
  t.same(seen, ['1', '2', '3', '4', '5', '7'])
})

test('closing handles what waits for a slot, and logs how much of it was left', async (t) => {
  const transport = inProcess({ concurrency: 1, closeTimeout: 1000 }) // a busy process may pause before its next turn
  const handlers = [handlerOf(NoteShared, never), handlerOf(NoteShared, async () => {}, 'QuickHandler')]
  const { app, errors } = await startApp(t, { transport, handlers })
  for (let number = 0; number < 3; number++) await app.events.publish(shared())
  await app.close()
  t.equal(app.events.stats().handled, 3)
  t.match(errors, [{ msg: 'events were not handled before the end', count: 2 }])
})

test('10,000 events that wait are handled before the first module closes', async (t) => {
  let isOpen = true
  let tooLate = 0
  const handle = async () => {
    await turn()
    if (!isOpen) tooLate++
  }
  const resource = {
    ...closingModule(() => (isOpen = false)),
    handlers: [handlerOf(NoteShared, handle)],
  }
  const { app } = await startApp(t, {
    transport: inProcess({ closeTimeout: 60_000 }),
    modules: [resource],
  })
  for (let count = 0; count < 10_000; count++) await app.events.publish(shared())
  await app.close()
  t.match(app.events.stats(), { handled: 10_000, failed: 0 })
  t.equal(tooLate, 0)
})

test('an event that waits for three handlers counts once for each, also before a turn of the event loop', async (t) => {
  const { app } = await startApp(t, {
    transport: inProcess({ concurrency: 1, maxWaiting: 2, closeTimeout: 0 }),
    handlers: ['OneHandler', 'TwoHandler', 'ThreeHandler'].map((name) => handlerOf(NoteShared, never, name)),
    isReady: false,
  })
  await app.events.publish(shared()) // kept until the handlers are known
  await app.ready()
  await turn()
  await turn() // the first one runs
  await app.events.publish(shared())
  await app.events.publish(shared())
  await t.rejects(app.events.publish(shared()), full)
  await turn()
  await t.rejects(app.events.publish(shared()), full)
})

test('the queue of a handler is its own: one that never ends stops no event that it does not handle', async (t) => {
  const seen: string[] = []
  const { app } = await startApp(t, {
    transport: inProcess({ concurrency: 1, maxWaiting: 3, closeTimeout: 0 }),
    handlers: [
      handlerOf(NoteShared, never),
      handlerOf(NoteDeleted, ({ noteId }) => seen.push(noteId), 'QuickHandler'),
    ],
  })
  await app.events.publish(shared())
  await turn() // it runs
  for (let number = 0; number < 3; number++) await app.events.publish(shared())
  await t.rejects(app.events.publish(shared()), full)
  for (let number = 0; number < 10; number++) {
    await app.events.publish(new NoteDeleted({ noteId: String(number) }))
    await turn()
  }
  t.same(
    seen,
    Array.from({ length: 10 }, (_, number) => String(number)),
  )
  await t.rejects(app.events.publish(shared()), full)
})

test('before the start, as many events are kept as may wait for one handler', async (t) => {
  const handlers = [handlerOf(NoteShared, never), handlerOf(NoteDeleted, never, 'OtherHandler')]
  const transport = inProcess({ maxWaiting: 2, closeTimeout: 0 })
  const { app } = await startApp(t, { transport, handlers, isReady: false })
  await app.events.publish(shared())
  await app.events.publish(new NoteDeleted({ noteId: 'n' }))
  await t.rejects(app.events.publish(shared()), full)
})

test('a command, which starts no handler, may publish as many events as it writes', async (t) => {
  const command = Symbol.for('fastify-modular.command')
  Reflect.set(globalThis, command, { name: 'settings import', migrates: false, findings: [] })
  t.teardown(() => Reflect.deleteProperty(globalThis, command))
  const transport = inProcess({ maxWaiting: 2 })
  const { app, errors } = await startApp(t, { transport, handlers: [handlerOf(NoteShared, never)] })
  for (let count = 0; count < 5; count++) await app.events.publish(shared())
  await app.close()
  t.same(app.events.stats().published, 5)
  t.same(errors, [])
})

test('what waits for a handler is handed over in order, in a time that grows with its number', async (t) => {
  const count = 200_000
  class Counted extends defineEvent('counted', Type.Object({ place: Type.Integer() })) {}
  const seen: number[] = []
  let begin = () => {}
  const first = new Promise<void>((resolve) => (begin = resolve))
  let end = () => {}
  const last = new Promise<void>((resolve) => (end = resolve))
  const handle = ({ place }: Counted) => {
    if (place === 0) return first
    seen.push(place)
    if (place === count) end()
    return undefined
  }
  const transport = inProcess({ concurrency: 1, maxWaiting: count + 1 })
  const { app } = await startApp(t, { transport, handlers: [handlerOf(Counted, handle)] })
  for (let place = 0; place <= count; place++) void app.events.publish(new Counted({ place }))
  await turn()
  const started = process.cpuUsage()
  begin()
  await last
  const { user, system } = process.cpuUsage(started)
  t.ok(
    seen.every((place, index) => place === index + 1),
    'in the order of publishing',
  )
  // Some 0.1 s; an array that is emptied from its front takes 20 s.
  t.ok((user + system) / 1e6 < 4, `${(user + system) / 1e6} s`)
})
