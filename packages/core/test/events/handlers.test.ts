import { test } from 'tap'
import { discoverHandlers } from '#src/events/handlers.js'
import { NoteDeleted, NoteShared } from './fixtures/events.js'
import * as namespace from './fixtures/handlers/audit-consumer.js'

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

test('S 6.3: handlers are found in a folder, each once, and only files named for handlers are loaded', async (t) => {
  const handlers = await discoverHandlers('mail', new URL('./fixtures/handlers', import.meta.url))
  t.same(
    handlers.map(({ name }) => name),
    ['mail.AuditConsumer', 'mail.SendMailHandler'],
  )
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
  class WrongEventHandler {
    static event = class Plain {}
    handle(): void {}
  }
  class TwoMethodsHandler {
    static event = NoteShared
    handle(): void {}
    consume(): void {}
  }
  class NeedsArgumentHandler {
    static event = NoteShared
    constructor(mailer: { send(): void }) {
      mailer.send()
    }
    handle(): void {}
  }
  class Mailer {
    static event = NoteShared
    handle(): void {}
  }
  const candidates = [
    NoMethodHandler,
    NoEventHandler,
    WrongEventHandler,
    TwoMethodsHandler,
    NeedsArgumentHandler,
    Mailer,
    SendMailHandler,
    SendMailHandler,
  ]
  const failure = await discoverHandlers('mail', candidates as never).catch(
    (error: unknown) => error as Error,
  )
  t.match(failure, { code: 'FMOD_CORE_INVALID_HANDLER' })
  const { message } = failure as Error
  t.match(message, /NoMethodHandler needs a method/)
  t.match(message, /NoEventHandler needs a static member "event"/)
  t.match(message, /WrongEventHandler needs a static member "event"/)
  t.match(message, /TwoMethodsHandler has both/)
  t.match(message, /NeedsArgumentHandler cannot be made/)
  t.match(message, /"Mailer" must have a name that ends in Handler or Consumer/)
  t.match(message, /mail\.SendMailHandler is listed twice/)
})

test('values that are not handlers are refused by name in a list and ignored in a namespace', async (t) => {
  for (const value of [null, undefined, 5, 'x', () => {}]) {
    await t.rejects(discoverHandlers('m', [value] as never), { code: 'FMOD_CORE_INVALID_HANDLER' })
  }
  t.same(await discoverHandlers('m', { a: null, b: 5, c: 'x', d: () => {}, e: undefined }), [])
})

test('a source that is not a list, a namespace or a URL is refused, also the class that was to be in a list', async (t) => {
  for (const source of [SendMailHandler, new SendMailHandler(), 'handlers', 5, null, true]) {
    await t.rejects(discoverHandlers('mail', source as never), {
      code: 'FMOD_CORE_INVALID_HANDLER',
      message: /mail: .*list/,
    })
  }
})
