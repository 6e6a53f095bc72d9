import Fastify, { type FastifyInstance } from 'fastify'
import { test, type Test } from 'tap'
import {
  defineEvent,
  defineModule,
  events,
  type HandlerClass,
  inProcess,
  modules,
} from '@fastify-modular/core'
import { Type } from '@sinclair/typebox'
import { NoteDeleted, NoteShared } from './fixtures/events.js'

const shared = () => new NoteShared({ noteId: 'n1', by: 'alice' })
const turn = () => new Promise((resolve) => setImmediate(resolve))

async function appWith(t: Test, handlers: object[], logs: string[] = []): Promise<FastifyInstance> {
  const app = Fastify({
    logger: { level: 'error', stream: { write: (line: string) => void logs.push(line) } },
  })
  t.teardown(() => app.close())
  await app.register(modules, {
    modules: [defineModule({ name: 'm', handlers: handlers as HandlerClass[] })],
  })
  await app.ready()
  return app
}

function handler(
  event: HandlerClass['event'],
  handle: (event: never, signal: AbortSignal) => unknown,
  name = 'OneHandler',
) {
  const made = {
    [name]: class {
      static event = event
      handle = handle
    },
  }[name]
  return made as unknown as object
}

test('S 6.2: a published event reaches every handler of its type once, after publish has returned', async (t) => {
  const seen: string[] = []
  const app = await appWith(t, [
    handler(NoteShared, (event: NoteShared) => seen.push(`one ${event.noteId}`), 'OneHandler'),
    handler(NoteShared, (event: NoteShared) => seen.push(`two ${event.noteId}`), 'TwoHandler'),
    handler(NoteDeleted, () => seen.push('deleted'), 'ThreeHandler'),
  ])
  const handed = app.events.publish(shared())
  t.same(seen, [], 'no handler runs inside publish')
  await handed
  await turn()
  t.same(seen, ['one n1', 'two n1'])
})

test('decision 50: only the exact type is delivered, not subclasses', async (t) => {
  class Base extends defineEvent('base', Type.Object({})) {}
  const seen: string[] = []
  const app = await appWith(t, [handler(Base, () => seen.push('base'))])
  class Other extends defineEvent('other', Type.Object({})) {}
  await app.events.publish(new Other({}))
  await turn()
  t.same(seen, [])
})

test('decision 50: a handler that throws or rejects is logged and disturbs neither publisher nor others', async (t) => {
  const logs: string[] = []
  const seen: string[] = []
  const app = await appWith(
    t,
    [
      handler(
        NoteShared,
        () => {
          throw new Error('sync failure')
        },
        'ThrowsHandler',
      ),
      handler(
        NoteShared,
        async () => {
          throw new Error('async failure')
        },
        'RejectsHandler',
      ),
      handler(NoteShared, () => seen.push('ran'), 'RunsHandler'),
    ],
    logs,
  )
  await app.events.publish(shared())
  await turn()
  await turn()
  t.same(seen, ['ran'])
  const records = logs.map((line) => JSON.parse(line) as { handler: string; msg: string })
  t.same(
    records.map(({ handler: name, msg }) => [name, msg]),
    [
      ['m.ThrowsHandler', 'event handler failed'],
      ['m.RejectsHandler', 'event handler failed'],
    ],
  )
  t.notMatch(logs.join(''), /alice/, 'payloads stay out of the log')
})

test('publishing before ready keeps the event until handlers are known', async (t) => {
  const seen: string[] = []
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(events)
  await app.events.publish(shared())
  await app.register(modules, {
    modules: [defineModule({ name: 'm', handlers: [handler(NoteShared, () => seen.push('ran'))] })],
  })
  await app.ready()
  await turn() // delivery begins when everything is ready
  await turn()
  t.same(seen, ['ran'])
})

test('closing delivers what was published, waits for handlers, then aborts their signal', async (t) => {
  const log: string[] = []
  const app = Fastify()
  let release: () => void = () => {}
  const gate = new Promise<void>((resolve) => (release = resolve))
  await app.register(events, {
    handlers: [
      handler(NoteShared, async (_: never, signal) => {
        await gate
        log.push(`handled, aborted: ${signal.aborted}`)
      }),
    ],
  })
  await app.ready()
  await app.events.publish(shared())
  const closing = app.close().then(() => log.push('closed'))
  await turn()
  release()
  await closing
  t.same(log, ['handled, aborted: false', 'closed'])
})

test('a handler that never returns does not keep the application open', async (t) => {
  const app = Fastify()
  let aborted = false
  await app.register(events, {
    transport: inProcess({ closeTimeout: 20 }),
    handlers: [
      handler(NoteShared, (_: never, signal) => {
        signal.addEventListener('abort', () => (aborted = true))
        return new Promise(() => {})
      }),
    ],
  })
  await app.ready()
  await app.events.publish(shared())
  await app.close()
  t.ok(aborted)
})

test('what a module publishes while it closes meets no handler; after that publishing is refused', async (t) => {
  const seen: string[] = []
  const app = Fastify()
  const handlers = [handler(NoteDeleted, () => seen.push('deleted'))] as unknown as HandlerClass[]
  const last = defineModule({
    name: 'm',
    handlers,
    onClose: (instance) => instance.events.publish(new NoteDeleted({ noteId: 'n' })),
  })
  await app.register(modules, { modules: [last] })
  await app.ready()
  await app.close()
  t.same(seen, [])
  await t.rejects(app.events.publish(shared()), { code: 'FMOD_CORE_EVENTS_CLOSED' })
})

test('an event that publishes itself again does not starve the event loop', async (t) => {
  let count = 0
  const app: FastifyInstance = await appWith(t, [
    handler(NoteDeleted, async () => {
      if (++count < 500) await app.events.publish(new NoteDeleted({ noteId: 'n' }))
    }),
  ])
  await app.events.publish(new NoteDeleted({ noteId: 'n' }))
  await turn()
  await turn()
  t.ok(count < 500, 'other work ran before the chain ended')
})

test('what waits for its handlers is bounded: publish rejects, and later events are taken again', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  let release: () => void = () => {}
  const gate = new Promise<void>((resolve) => (release = resolve))
  const seen: string[] = []
  await app.register(events, {
    transport: inProcess({ concurrency: 2, maxWaiting: 3 }),
    handlers: [
      handler(NoteShared, async ({ noteId }: NoteShared) => {
        await gate
        seen.push(noteId)
      }),
    ],
  })
  await app.ready()
  const publish = (noteId: string) => app.events.publish(new NoteShared({ noteId, by: 'alice' }))
  await publish('1')
  await publish('2')
  await turn() // these two run
  for (const noteId of ['3', '4', '5']) await publish(noteId)
  await t.rejects(publish('6'), { statusCode: 503, code: 'SERVICE_UNAVAILABLE', message: /notes\.shared/ })
  t.equal(app.events.stats().published, 5, 'what was refused is not counted as published')
  release()
  for (let turns = 0; turns < 100 && seen.length < 5; turns++) await turn()
  await publish('7')
  for (let turns = 0; turns < 100 && seen.length < 6; turns++) await turn()
  t.same(seen, ['1', '2', '3', '4', '5', '7'])
})

test('closing handles what waits for a slot, and logs how much of it was left', async (t) => {
  const logs: string[] = []
  const app = Fastify({ logger: { level: 'error', stream: { write: (line) => void logs.push(line) } } })
  await app.register(events, {
    transport: inProcess({ concurrency: 1, closeTimeout: 20 }),
    handlers: [
      handler(NoteShared, () => new Promise(() => {})),
      handler(NoteShared, () => Promise.resolve(), 'QuickHandler'),
    ],
  })
  await app.ready()
  for (let number = 0; number < 3; number++) await app.events.publish(shared())
  await app.close()
  t.equal(app.events.stats().handled, 3)
  t.match(JSON.parse(logs[0] ?? '{}'), { msg: 'events were not handled before the end', count: 2 })
})

test('10,000 events that wait are handled before the first module closes', async (t) => {
  const app = Fastify()
  let isOpen = true
  let tooLate = 0
  const handle = async () => {
    await turn()
    if (!isOpen) tooLate++
  }
  const resource = defineModule({
    name: 'm',
    handlers: [handler(NoteShared, handle)] as HandlerClass[],
    onClose: () => void (isOpen = false),
  })
  await app.register(events, { transport: inProcess({ closeTimeout: 60_000 }) })
  await app.register(modules, { modules: [resource] })
  await app.ready()
  for (let count = 0; count < 10_000; count++) await app.events.publish(shared())
  await app.close()
  t.match(app.events.stats(), { handled: 10_000, failed: 0 })
  t.equal(tooLate, 0)
})

test('an event that waits for three handlers counts three times, also before a turn of the event loop', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const wait = () => new Promise(() => {})
  await app.register(events, {
    transport: inProcess({ concurrency: 1, maxWaiting: 6, closeTimeout: 0 }),
    handlers: ['OneHandler', 'TwoHandler', 'ThreeHandler'].map((name) => handler(NoteShared, wait, name)),
  })
  await app.events.publish(shared()) // kept until the handlers are known
  await app.ready()
  await turn()
  await turn() // the first one runs
  await app.events.publish(shared())
  await app.events.publish(shared())
  await t.rejects(app.events.publish(shared()), { statusCode: 503, code: 'SERVICE_UNAVAILABLE' })
  await turn()
  await t.rejects(app.events.publish(shared()), { statusCode: 503, code: 'SERVICE_UNAVAILABLE' })
})

test('what waits for a handler is handed over in order, in a time that grows with its number', async (t) => {
  const count = 200_000
  const Counted = defineEvent('counted', Type.Object({ place: Type.Integer() }))
  const seen: number[] = []
  let begin = () => {}
  const first = new Promise<void>((resolve) => (begin = resolve))
  let end = () => {}
  const last = new Promise<void>((resolve) => (end = resolve))
  const handle = ({ place }: InstanceType<typeof Counted>) => {
    if (place === 0) return first
    seen.push(place)
    if (place === count) end()
    return undefined
  }
  const app = Fastify()
  t.teardown(() => app.close())
  const transport = inProcess({ concurrency: 1, maxWaiting: count + 1 })
  await app.register(events, { transport, handlers: [handler(Counted, handle)] as HandlerClass[] })
  await app.ready()
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
