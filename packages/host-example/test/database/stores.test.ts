/** The same stores on both databases. */
import { promisify } from 'node:util'
import { test } from 'tap'
import type { DomainEvent, Events } from '@fastify-modular/core'
import type { Session } from 'fastify'
import { accountsIn } from '#src/accounts.js'
import { openPostgres } from '#src/database/postgres.js'
import { seedAccounts } from '#src/first-accounts.js'
import { createMailbox } from '#src/modules/mail/mailbox.js'
import { type Note, NoteShared } from '#src/modules/notes/note.js'
import { createNotesStore } from '#src/modules/notes/notes-store.js'
import { sessionsIn } from '#src/session-store.js'
import { engines } from './engines.js'

const ignore = (): void => {}

/** Takes events, or refuses them when told to: the store must then change nothing. */
const published: DomainEvent[] = []
let isRefusing = false
const events = {
  publish(event: DomainEvent): void {
    if (isRefusing) throw new Error('the outbox is full')
    published.push(event)
  },
} as unknown as Events

const ada = { id: 'ada', name: 'Ada', permissions: ['Settings.Update'] }
const note: Note = {
  id: 'n1',
  owner: 'ada',
  title: 'First',
  body: `'; drop table notes; --`,
  isShared: false,
  version: 1,
  createdAt: '2026-01-02T03:04:05.678Z',
  updatedAt: '2026-01-02T03:04:05.678Z',
}

for (const [engine, prepare] of Object.entries(engines)) {
  test(engine, async (t) => {
    const open = await prepare(t)

    await t.test('several instances may start at once on an empty database', async (t) => {
      const databases = await Promise.all(Array.from({ length: 5 }, open))
      await Promise.all(databases.map((database) => database.close()))
      t.equal(databases.length, 5)
    })

    const database = await open()
    const accounts = accountsIn(database.query)
    const sessions = sessionsIn(database.query)
    const start = (id: string, account: string, expires = new Date(Date.now() + 60_000)) =>
      promisify(sessions.set.bind(sessions))(id, { account, cookie: { expires } } as Session)
    const find = promisify((id: string, done: (error: unknown, found?: Session | null) => void) =>
      sessions.get(id, done),
    )
    const notes = createNotesStore(database, events)

    await t.test(
      'an account is found by its name as it is written, and checked by its password',
      async (t) => {
        await accounts.save(ada, 'of Ada')
        t.same(await accounts.find('ada'), ada)
        t.equal(await accounts.find('ADA'), null)
        t.same(await accounts.check('ada', 'of Ada'), ada)
        for (const [user, password] of [
          ['ada', 'of ada'],
          ['ada', ''],
          ['nobody', 'of Ada'],
          ['__proto__', ''],
        ] as const)
          t.equal(await accounts.check(user, password), null, user)
        t.same(await accounts.names(), { ada: 'Ada' })
        const [row] = await database.query('select * from accounts')
        t.notMatch(JSON.stringify(row), 'of Ada')
      },
    )

    await t.test('a session is found by its identifier alone, which is not in the database', async (t) => {
      await start('an identifier', 'ada')
      t.match(await find('an identifier'), { account: 'ada' })
      t.equal(await find('another identifier'), null)
      t.notMatch(JSON.stringify(await database.query('select * from sessions')), 'identifier')
      await promisify(sessions.destroy.bind(sessions))('an identifier')
      t.equal(await find('an identifier'), null)
    })

    await t.test('a session expires, and old ones are swept when one starts', async (t) => {
      await start('old', 'ada', new Date(Date.now() - 1))
      t.equal(await find('old'), null)
      await start('new', 'ada')
      t.equal((await database.query('select * from sessions')).length, 1)
    })

    await t.test('a new password and the end of an account end its sessions, and no others', async (t) => {
      await start('of Bob', 'bob')
      for (const end of [() => accounts.save(ada, 'another'), () => accounts.remove('ada')]) {
        await start('of Ada', 'ada')
        await end()
        t.equal(await find('of Ada'), null)
      }
      t.equal(await accounts.find('ada'), null)
      t.match(await find('of Bob'), { account: 'bob' })
    })

    await t.test(
      'a real installation has one administrator, and no demo account that was there before',
      async (t) => {
        await seedAccounts(accounts, { kind: 'demo' })
        await seedAccounts(accounts, { kind: 'demo' })
        t.same(await accounts.names(), { admin: 'Ada', editor: 'Eli', alice: 'Alice', bob: 'Bob' })
        await accounts.save({ id: 'bob', name: 'Robert' }, 'a password of his own')
        for (const adminPassword of ['first password', 'first password', 'second password']) {
          await seedAccounts(accounts, { kind: 'own', adminPassword })
          t.same(await accounts.names(), { admin: 'admin', bob: 'Robert' })
          t.match(await accounts.check('admin', adminPassword), { isAdmin: true })
        }
        t.equal(await accounts.check('admin', 'first password'), null)
      },
    )

    await t.test('a note comes back as it was stored', async (t) => {
      await notes.add(note)
      t.same(await notes.find('n1'), note)
      t.equal(await notes.find('n2'), null)
    })

    await t.test('of changes made to the same version one wins', async (t) => {
      const changes = ['A', 'B', 'C', 'D'].map((title) => notes.update(note, { title }))
      const winners = (await Promise.all(changes)).filter((changed) => changed !== null)
      t.equal(winners.length, 1)
      t.match(await notes.find('n1'), {
        version: 2,
        title: winners[0]?.title,
        body: note.body,
        isShared: false,
      })
    })

    await t.test('notes are listed newest first, page by page, of one owner or of all', async (t) => {
      await notes.add({ ...note, id: 'n2', createdAt: '2026-01-03T00:00:00.000Z' })
      await notes.add({ ...note, id: 'n3', owner: 'bob', createdAt: '2026-01-04T00:00:00.000Z' })
      const ids = async (owner: string | null, limit: number, offset: number) =>
        (await notes.list({ owner, contains: '', limit, offset })).map(({ id }) => id)
      t.same(await ids('ada', 10, 0), ['n2', 'n1'])
      t.same(await ids(null, 2, 0), ['n3', 'n2'])
      t.same(await ids(null, 2, 2), ['n1'])
    })

    await t.test(
      'notes are found by a part of their title or text, whatever its letters mean in SQL',
      async (t) => {
        await notes.add({ ...note, id: 'n4', title: '100 % Wool_socks', body: 'a\\b, Äpfel' })
        const found = async (contains: string) =>
          (await notes.list({ owner: 'ada', contains, limit: 10, offset: 0 })).map(({ id }) => id)
        for (const text of ['100 %', 'wool_', 'SOCKS', 'a\\b', 'Äpf']) t.same(await found(text), ['n4'], text)
        for (const text of ['100_', 'wool%', 'a\\\\b']) t.same(await found(text), [], text)
        await notes.remove('n4')
      },
    )

    await t.test('a removed note is restored as it was, once', async (t) => {
      const before = await notes.find('n2')
      t.equal(await notes.findRemoved('n2'), null)
      await Promise.all([notes.remove('n2'), notes.remove('n2')])
      t.equal(await notes.find('n2'), null)
      t.same(await notes.findRemoved('n2'), before)
      await Promise.all([notes.restore('n2'), notes.restore('n2')])
      t.same(await notes.find('n2'), before)
      t.equal(await notes.findRemoved('n2'), null)
      await notes.restore('n2')
      t.same(await notes.find('n2'), before, 'nothing to restore changes nothing')
    })

    await t.test('a note is shared together with its event, or not at all', async (t) => {
      const before = await notes.find('n2')
      t.ok(before && !before.isShared)
      if (!before) return
      const eventOf = ({ owner, title }: Note) => new NoteShared({ noteId: 'n2', owner, title })
      isRefusing = true
      await t.rejects(notes.share(before, eventOf), /outbox is full/)
      t.same(await notes.find('n2'), before)
      isRefusing = false
      published.length = 0
      t.match(await notes.share(before, eventOf), { isShared: true, version: before.version + 1 })
      t.match(published, [{ noteId: 'n2', owner: before.owner }])
      t.equal(await notes.share(before, eventOf), null, 'a stale version publishes nothing')
      t.equal(published.length, 1)
    })

    await t.test('a mail that is delivered twice is one mail', async (t) => {
      const mailbox = createMailbox(database)
      const mail = { id: 'event-1', recipient: 'ada', subject: 'Shared' }
      await Promise.all([mailbox.send(mail), mailbox.send(mail)])
      t.match(await mailbox.list(), [mail])
    })

    await database.close()
  })
}

test('a PostgreSQL server that cannot be reached is unavailable, and no password is in the message', async (t) => {
  const error = await openPostgres('postgres://u:hunter2@127.0.0.1:1/x', ignore).catch(
    (reason: unknown) => reason,
  )
  t.ok(error instanceof Error)
  t.notMatch(String(error), 'hunter2')
})
