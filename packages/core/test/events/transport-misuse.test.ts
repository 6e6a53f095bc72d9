import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { drizzle as drizzleSqlite } from 'drizzle-orm/better-sqlite3'
import { drizzle as drizzlePg } from 'drizzle-orm/node-postgres'
import pg from 'pg'
import { test } from 'tap'
import { sqliteTx, pgTx, inProcess } from '@fastify-modular/core'
import { drizzleTx } from '@fastify-modular/core/events/drizzle'
import { pgBoss } from '@fastify-modular/core/events/pg-boss'
import { sqliteOutbox } from '@fastify-modular/core/events/sqlite-outbox'
import { until } from '@fastify-modular/test-support/until'
import { loadPeer } from '#src/events/pg-boss/database.js'
import { handlerOf, startApp } from './fixtures/app.js'
import { NoteShared } from './fixtures/events.js'

const handlers = [handlerOf(NoteShared)]

const event = new NoteShared({ noteId: '1', by: 'a' })

test('each application that opens a transport gets its own events alone', async (t) => {
  const transport = inProcess()
  const [one, other] = [
    await startApp(t, { transport, handlers }),
    await startApp(t, { transport, handlers }),
  ]
  await one.app.events.publish(event)
  await until(() => one.app.events.stats().handled === 1)
  await one.app.close()
  await other.app.events.publish(event)
  await until(() => other.app.events.stats().handled === 1)
  t.equal(one.app.events.stats().handled, 1)
})

test('FMOD_CORE_TRANSACTION_OPEN: an event waits for the end of a transaction that it is no part of', async (t) => {
  const database = new Database(':memory:')
  const { app } = await startApp(t, { transport: sqliteOutbox({ database }), handlers })
  const stored = () => database.prepare('SELECT count(*) FROM event_outbox').pluck().get()
  database.exec('BEGIN')
  const published = app.events.publish(event)
  app.events.publish(event, { tx: sqliteTx(database) })
  t.equal(stored(), 1)
  database.exec('ROLLBACK')
  await published
  t.equal(app.events.stats().published, 2)
  database.exec('BEGIN')
  await t.rejects(app.events.publish(event), { code: 'FMOD_CORE_TRANSACTION_OPEN', message: /notes/ })
  database.exec('COMMIT')
})

test('FMOD_CORE_INVALID_TRANSACTION: what cannot be a transaction is not taken for one', async (t) => {
  const database = new Database(':memory:')
  const pool = new pg.Pool()
  t.teardown(() => pool.end())
  const refused = { code: 'FMOD_CORE_INVALID_TRANSACTION' }
  const makers: Readonly<
    Record<string, readonly [make: (given: never) => unknown, wrong: readonly unknown[]]>
  > = {
    pgTx: [pgTx, [undefined, pool, database, drizzleSqlite(database), 'client']],
    sqliteTx: [sqliteTx, [undefined, pool, 'app.db']],
    drizzleTx: [drizzleTx, [undefined, pool, drizzlePg(pool), {}]],
  }
  for (const [name, [make, wrong]] of Object.entries(makers))
    for (const given of wrong) t.throws(() => make(given as never), refused, name)

  const { app } = await startApp(t, { transport: sqliteOutbox({ database }), handlers })
  for (const tx of [sqliteTx(database), drizzleTx(drizzleSqlite(database))]) {
    t.throws(() => app.events.publish(event, { tx }), { ...refused, message: /no transaction is open/ })
    t.equal(app.events.stats().published, 0)
  }
})

test('what changes dead letters and subscriptions waits for a transaction that rolls back', async (t) => {
  const database = new Database(':memory:')
  let isBroken = true
  const handle = () => {
    if (isBroken) throw new Error('cannot digest')
  }
  const { app } = await startApp(t, {
    transport: sqliteOutbox({ database, maxAttempts: 1 }),
    handlers: [handlerOf(NoteShared, handle)],
  })
  database.exec("INSERT INTO event_subscription (handler, type) VALUES ('app.Gone', 'notes.shared')")
  await app.events.publish(event)
  await app.events.publish(event)
  const { deadLetters, removedHandlers } = app.events
  await until(async () => (await deadLetters?.list())?.length === 2)
  const [first, second] = (await deadLetters?.list()) ?? []
  isBroken = false

  const inRolledBack = async <T>(work: () => T) => {
    database.exec('BEGIN IMMEDIATE')
    const result = work()
    database.exec('ROLLBACK')
    return result
  }
  t.equal(await inRolledBack(() => deadLetters?.discard(first?.id ?? '')), true)
  t.match(await deadLetters?.list(), [{ id: second?.id }])
  t.equal((await deadLetters?.list())?.length, 1)
  t.equal(await inRolledBack(() => deadLetters?.replay(second?.id ?? '')), true)
  await until(() => app.events.stats().handled === 1)
  t.same(await deadLetters?.list(), [])
  t.equal(await inRolledBack(() => removedHandlers?.unsubscribe('app.Gone')), true)
  t.same(await removedHandlers?.list(), [])
})

test('what was handled is recorded at the end, and the rest handed back, after a transaction that is open then', async (t) => {
  const database = new Database(':memory:')
  for (const isEnding of [true, false]) {
    let begin = () => {}
    const begun = new Promise<void>((resolve) => (begin = resolve))
    let release = () => {}
    const handle = async () => {
      begin()
      await new Promise<void>((resolve) => (release = resolve))
    }
    const transport = sqliteOutbox({ database, closeTimeout: isEnding ? 60_000 : 0 })
    const { app } = await startApp(t, { transport, handlers: [handlerOf(NoteShared, handle)] })
    await app.events.publish(event)
    await begun
    database.exec('BEGIN IMMEDIATE')
    const closing = app.close()
    if (isEnding) release()
    await delay(1)
    database.exec('ROLLBACK')
    await closing
    const left = database.prepare('SELECT due_at <= ? FROM event_delivery').pluck().all(Date.now())
    t.same(left, isEnding ? [] : [1], 'nothing, or what is due at once')
  }
})

test('a transaction that stays open holds up deliveries on its connection, is logged once, and loses none', async (t) => {
  const database = new Database(':memory:')
  const { app, errors } = await startApp(t, { transport: sqliteOutbox({ database }), handlers })
  database.exec('BEGIN')
  app.events.publish(event, { tx: sqliteTx(database) })
  await until(() => errors.length > 0)
  t.match(errors, [{ msg: 'event queue cannot be used', err: { code: 'FMOD_CORE_TRANSACTION_OPEN' } }])
  t.equal(app.events.stats().handled, 0)
  database.exec('COMMIT')
  await until(() => app.events.stats().handled === 1)
  t.equal(errors.length, 1)
})

test('FMOD_CORE_PEER_MISSING: an optional peer that is not installed is named, and the cause kept', async (t) => {
  const cause = new Error('Cannot find package')
  const failure = await loadPeer('pg-boss', () => Promise.reject(cause)).catch(
    (error: unknown) => error as Error,
  )
  t.match(failure, { code: 'FMOD_CORE_PEER_MISSING', message: /"pg-boss"/ })
  t.equal((failure as Error).cause, cause)
})

test('the guide and the README install the version of pg-boss that the transport takes', async (t) => {
  const root = new URL('../../../../', import.meta.url)
  const manifest = JSON.parse(await readFile(new URL('packages/core/package.json', root), 'utf8'))
  const [, major] = /^\^(\d+)\./.exec(manifest.peerDependencies['pg-boss']) ?? []
  for (const path of ['docs/guides/events.md', 'packages/core/README.md'])
    t.ok((await readFile(new URL(path, root), 'utf8')).includes(`npm install pg-boss@${major} pg`), path)
})

test('a schema that is not a plain name never reaches SQL', async (t) => {
  for (const schema of ['', 'a b', 'x; DROP TABLE y', '"', 'ä', '1a', 'a'.repeat(64)]) {
    t.throws(() => pgBoss({ connectionString: 'postgres://127.0.0.1/x', schema }), {
      code: 'FMOD_CORE_INVALID_OPTION',
    })
  }
})
