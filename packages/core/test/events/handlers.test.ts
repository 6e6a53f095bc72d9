import { events, modules } from '@fastify-modular/core'
import Fastify from 'fastify'
import { test } from 'tap'
import { discoverHandlers as discover, type HandlerSource } from '#src/events/handlers.js'
import { handlerOf } from './fixtures/app.js'
import { NoteDeleted, NoteShared } from './fixtures/events.js'
import * as namespace from './fixtures/audit-consumer.js'

const discoverHandlers = async (module: string, source: HandlerSource) =>
  discover(module, source, { warn: () => {} })

class SendMailHandler {
  static event = NoteShared
  readonly seen: unknown[] = []
  handle(event: NoteShared, signal: AbortSignal): void {
    this.seen.push([event.noteId, signal.aborted])
  }
}

test('S 6.3: a class named *Handler or *Consumer with handle or consume is a handler', async (t) => {
  class AuditConsumer {
    static event = NoteDeleted
    consume(): void {}
  }
  const handlers = await discoverHandlers('mail', [SendMailHandler, AuditConsumer])
  t.same(
    handlers.map(({ name, event }) => [name, event.type]),
    [
      ['mail.SendMailHandler', 'notes.shared'],
      ['mail.AuditConsumer', 'notes.deleted'],
    ],
  )
})

test('S 6.3: handlers are found in a namespace import, beside other exports', async (t) => {
  t.same(
    (await discoverHandlers('audit', namespace)).map(({ name }) => name),
    ['audit.AuditConsumer'],
  )
})

test('a static id names a handler in place of its class', async (t) => {
  const RenamedHandler = Object.assign(handlerOf(NoteShared), { id: 'SendMailHandler' })
  const Anything = Object.assign(handlerOf(NoteShared, undefined, 'Anything'), { id: 'mail' })
  const names = async (source: object) =>
    (await discoverHandlers('m', source as never)).map(({ name }) => name)
  t.same(await names([RenamedHandler, new Anything()]), ['m.SendMailHandler', 'm.mail'])
  t.same(await names({ RenamedHandler, Anything }), ['m.SendMailHandler', 'm.mail'])
  for (const handlers of [
    [RenamedHandler, SendMailHandler],
    [SendMailHandler, SendMailHandler],
  ]) {
    const app = Fastify()
    t.teardown(() => app.close())
    await t.rejects(async () => app.register(events, { handlers }), {
      code: 'FMOD_CORE_INVALID_HANDLER',
      message: /app\.SendMailHandler is listed twice/,
    })
  }
  for (const id of ['', 5]) {
    const WrongHandler = Object.assign(handlerOf(NoteShared), { id })
    await t.rejects(names([WrongHandler]), {
      code: 'FMOD_CORE_INVALID_HANDLER',
      message: /static member "id"/,
    })
  }
})

test('a class whose name a minifier has shortened is a handler still, and the log asks for an id', async (t) => {
  const a = handlerOf(NoteShared, undefined, 'a')
  const bc = Object.assign(handlerOf(NoteShared, undefined, 'bc'), { id: 'named' })
  const MailHandler = Object.assign(handlerOf(NoteShared), { id: 'm' }) // on purpose
  const warnings: object[] = []
  const app = Fastify({
    logger: { level: 'warn', stream: { write: (line) => void warnings.push(JSON.parse(line)) } },
  })
  t.teardown(() => app.close())
  await app.register(events)
  await app.register(modules, {
    modules: [{ name: 'm', handlers: { a, bc, MailHandler, c: class {} } as never }],
  })
  await app.ready()
  t.match(warnings, [{ handlers: ['m.a'], msg: /static id/ }])
  t.equal(warnings.length, 1)
})

test('S 6.3: an instance with its dependencies is a handler too', async (t) => {
  const instance = new SendMailHandler()
  const [handler] = await discoverHandlers('mail', [instance])
  const event = new NoteShared({ noteId: 'n1', by: 'alice' })
  handler?.handle(event, AbortSignal.timeout(1000), { attempt: 1 })
  t.same(instance.seen, [['n1', false]])
})

test('S 6.3: near misses are one boot error that names each of them', async (t) => {
  class NoMethodHandler {
    static event = NoteShared
  }
  class NoEventHandler {
    handle(): void {}
  }
  class WrongEventHandler extends NoEventHandler {
    static event = class Plain {}
  }
  class TwoMethodsHandler extends SendMailHandler {
    consume(): void {}
  }
  class NeedsArgumentHandler extends SendMailHandler {
    constructor(mailer: { send(): void }) {
      super()
      mailer.send()
    }
  }
  const Mailer = handlerOf(NoteShared, undefined, 'Mailer')
  const problems: readonly (readonly [object, RegExp])[] = [
    [NoMethodHandler, /NoMethodHandler needs a method/],
    [NoEventHandler, /NoEventHandler needs a static member "event"/],
    [WrongEventHandler, /WrongEventHandler needs a static member "event"/],
    [TwoMethodsHandler, /TwoMethodsHandler has both/],
    [NeedsArgumentHandler, /NeedsArgumentHandler cannot be made/],
    [Mailer, /"Mailer" must have a name that ends in Handler or Consumer/],
  ]
  const candidates = [...problems.map(([candidate]) => candidate), SendMailHandler]
  const failure = await discoverHandlers('mail', candidates).catch((error: unknown) => error as Error)
  t.match(failure, { code: 'FMOD_CORE_INVALID_HANDLER' })
  for (const [, message] of problems) t.match((failure as Error).message, message)
})

test('values that are not handlers are refused by name in a list and ignored in a namespace', async (t) => {
  for (const value of [null, undefined, 5, 'x', () => {}]) {
    await t.rejects(discoverHandlers('m', [value] as never), { code: 'FMOD_CORE_INVALID_HANDLER' })
  }
  t.same(await discoverHandlers('m', { a: null, b: 5, c: 'x', d: () => {}, e: undefined }), [])
})

test('a source that is neither a list nor a namespace is refused, also the class that was to be in a list', async (t) => {
  for (const source of [
    SendMailHandler,
    new SendMailHandler(),
    new URL('file:///handlers'),
    'handlers',
    5,
    null,
  ]) {
    await t.rejects(discoverHandlers('mail', source as never), {
      code: 'FMOD_CORE_INVALID_HANDLER',
      message: /mail: .*list/,
    })
  }
})
