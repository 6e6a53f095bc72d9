/** Events that were stored for handlers of an earlier release of the application. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import Database from 'better-sqlite3'
import Fastify, { type FastifyInstance } from 'fastify'
import { test, type Test } from 'tap'
import { defineEvent, defineModule, type EventTransport, events, modules } from '@fastify-modular/core'
import { pgBoss } from '@fastify-modular/core/events/pg-boss'
import { sqliteOutbox } from '@fastify-modular/core/events/sqlite-outbox'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { until } from '@fastify-modular/test-support/until'

class Moved extends defineEvent('notes.moved', Type.Object({ noteId: Type.String() })) {}
class Copied extends defineEvent('notes.copied', Type.Object({ noteId: Type.String() })) {}

const engines: Record<string, (t: Test) => Promise<() => EventTransport>> = {
  sqliteOutbox: async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'changed-handlers-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true }))
    return () => sqliteOutbox({ database: new Database(join(folder, 'app.db')), maxAttempts: 1 })
  },
  pgBoss: async (t) => {
    const { url } = await testDatabase(t)
    return () =>
      pgBoss({ connectionString: url, timeouts: { connect: 60_000 }, pollInterval: 50, maxAttempts: 1 })
  },
}

/** An application with one module, not started yet. */
async function release(t: Test, transport: EventTransport, handlers: object[]): Promise<FastifyInstance> {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(events, { transport })
  await app.register(modules, { modules: [defineModule({ name: 'my mail', handlers })] })
  return app
}

/** A release whose handler is subscribed, and an event that it does not handle before it ends. */
async function leaveEvent(t: Test, transport: EventTransport): Promise<void> {
  class NoteHandler {
    static event = Moved
    handle() {}
  }
  const app = await release(t, transport, [NoteHandler])
  await app.events.publish(new Moved({ noteId: 'n1' }))
  await app.close()
}

for (const [name, prepare] of Object.entries(engines)) {
  test(`${name}: an event of another type than its handler's becomes a dead letter and is not handled`, async (t) => {
    const open = await prepare(t)
    await leaveEvent(t, open())
    const handed: unknown[] = []
    class NoteHandler {
      static event = Copied
      handle(event: unknown) {
        handed.push(event)
      }
    }
    class OtherHandler {
      static event = Moved
      handle() {}
    }
    const app = await release(t, open(), [NoteHandler, OtherHandler])
    await app.ready()
    await app.events.publish(new Copied({ noteId: 'n2' }))
    await until(async () => {
      const dead = (await app.events.deadLetters?.list()) ?? []
      return app.events.stats().handled + dead.length === 2
    })
    t.match(await app.events.deadLetters?.list(), [
      {
        type: 'notes.moved',
        handler: 'my mail.NoteHandler',
        error: 'The handler my mail.NoteHandler handles notes.copied, and this event is notes.moved.',
      },
    ])
    t.match(handed, [{ noteId: 'n2' }])
    t.equal(handed.length, 1)
  })
}
