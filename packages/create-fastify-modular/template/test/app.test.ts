import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import type { Caller } from '@fastify-modular/core'
import { eventsOf, injectAs, enableTestCallers } from '@fastify-modular/core/testing'
import { expectAccess } from '@fastify-modular/public-routes/testing'
import { memoryStore } from '@fastify-modular/settings'
import type { FastifyInstance } from 'fastify'
import { createApp } from '../src/app.ts'
import { NoteAdded } from '../src/notes.ts'

const writer: Caller = { id: 'writer', permissions: ['Notes.Write'] }
const reader: Caller = { id: 'reader' }

async function start(
  t: TestContext,
  accounts: readonly Caller[] = [writer, reader],
): Promise<FastifyInstance> {
  const find = async (user: string) => accounts.find(({ id }) => id === user) ?? null
  const app = await createApp({
    store: memoryStore(),
    signIn: { check: async (user, password) => (password === 'right' ? find(user) : null), find },
    sessionSecret: randomBytes(32).toString('hex'),
    logLevel: 'silent',
  })
  t.after(() => app.close())
  enableTestCallers(app)
  return app
}

const signIn = (app: FastifyInstance, password: string, user = 'reader', remoteAddress = '127.0.0.1') =>
  app.inject({
    method: 'POST',
    url: '/login',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: `user=${user}&password=${password}`,
    remoteAddress,
  })

const cookiesOf = ({ cookies }: Awaited<ReturnType<typeof signIn>>) =>
  Object.fromEntries(cookies.map(({ name, value }) => [name, value]))

const newNote = (text: string) => ({ method: 'POST', url: '/api/notes', payload: { text } }) as const

test('every route has the access of access.json', async (t) => {
  await expectAccess(await start(t), new URL('../../access.json', import.meta.url))
})

test('probes ask whether it lives, and whether it should get requests', async (t) => {
  const app = await start(t)
  for (const url of ['/health', '/health/live'])
    assert.deepEqual((await app.inject(url)).json(), { status: 'ok' })
  assert.deepEqual((await app.inject('/health/ready')).json(), { status: 'ok', settings: 'ready' })
})

test('everybody reads notes, writing them takes the permission', async (t) => {
  const app = await start(t)
  assert.equal((await app.inject('/api/notes')).statusCode, 200)
  assert.equal((await app.inject(newNote('Milk'))).statusCode, 401)
  const refused = await injectAs(app, reader, newNote('Milk'))
  assert.equal(refused.statusCode, 403)
  assert.equal(refused.headers['content-type'], 'application/problem+json')
  assert.equal((await injectAs(app, writer, newNote('Milk'))).statusCode, 201)
})

test('what programs read is compressed, documents are not', async (t) => {
  const app = await start(t)
  for (const text of Array.from({ length: 20 }, () => 'Milk and bread. '.repeat(20)))
    await injectAs(app, writer, newNote(text))
  const encodingOf = async (url: string) =>
    (await app.inject({ url, headers: { 'accept-encoding': 'br' } })).headers['content-encoding']
  assert.equal(await encodingOf('/api/notes'), 'br')
  assert.equal(await encodingOf('/login'), undefined)
})

test('a note that is added is published, and handled', async (t) => {
  const app = await start(t)
  const record = eventsOf(app)
  const note = (await injectAs(app, writer, newNote('Milk'))).json<{ id: string }>()
  await record.waitFor('notes.ActivityHandler')
  assert.deepEqual(record.published, [NoteAdded.type])
  assert.deepEqual((await injectAs(app, reader, '/api/activity')).json(), [`writer added ${note.id}`])
})

test('settings say how many notes there are, and in which order', async (t) => {
  const app = await start(t)
  for (const text of ['first', 'second', 'third']) await injectAs(app, writer, newNote(text))
  await app.settings.set('notes.shown', 2)
  await app.settings.set('notes.order', 'oldest', { userId: reader.id })
  const textsFor = async (caller: Caller): Promise<string[]> =>
    (await injectAs(app, caller, '/api/notes')).json<{ text: string }[]>().map(({ text }) => text)
  assert.deepEqual(await textsFor(writer), ['third', 'second'])
  assert.deepEqual(await textsFor(reader), ['first', 'second'])
})

test('a missing note and a body that does not fit are problems', async (t) => {
  const app = await start(t)
  const missing = await app.inject('/api/notes/42')
  assert.equal(missing.statusCode, 404)
  assert.equal(missing.json<{ code: string }>().code, 'NOT_FOUND')
  assert.equal((await injectAs(app, writer, newNote(''))).statusCode, 400)
})

test('a session leads to the settings pages, and ends', async (t) => {
  const app = await start(t)
  const html = { accept: 'text/html' }
  const stranger = await app.inject({ url: '/settings/preferences', headers: html })
  assert.equal(stranger.statusCode, 302)
  assert.match(String(stranger.headers.location), /^\/login\?/)

  assert.equal((await signIn(app, 'wrong')).statusCode, 401)
  const signedIn = await signIn(app, 'right')
  assert.equal(signedIn.statusCode, 303)

  const cookies = cookiesOf(signedIn)
  assert.equal((await app.inject({ url: '/settings/preferences', headers: html, cookies })).statusCode, 200)
  assert.equal((await app.inject({ method: 'POST', url: '/logout', cookies })).statusCode, 303)
  assert.equal((await app.inject({ url: '/api/activity', cookies })).statusCode, 401)
})

test('a right that is taken back and an account that is deleted are gone at the next request', async (t) => {
  const accounts = [writer]
  const app = await start(t, accounts)
  const cookies = cookiesOf(await signIn(app, 'right', 'writer'))
  const status = async () => (await app.inject({ ...newNote('Milk'), cookies })).statusCode
  assert.equal(await status(), 201)
  accounts[0] = { id: 'writer' }
  assert.equal(await status(), 403)
  accounts.pop()
  assert.equal(await status(), 401)
})

test('signing out ends the streams of settings', async (t) => {
  const app = await start(t)
  const cookies = cookiesOf(await signIn(app, 'right'))
  const stream = await app.inject({ url: '/api/settings/stream', cookies, payloadAsStream: true })
  assert.equal(stream.statusCode, 200)
  await app.inject({ method: 'POST', url: '/logout', cookies })
  await app.settings.set('notes.shown', 7)
  const events = await text(stream.stream())
  assert.match(events, /notes\.shown/)
  assert.doesNotMatch(events, /event: change/)
})

test('a session ends twelve hours after it began, used or not', async (t) => {
  const app = await start(t)
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const cookies = cookiesOf(await signIn(app, 'right'))
  const status = async () => (await app.inject({ url: '/api/activity', cookies })).statusCode
  t.mock.timers.tick(11 * 60 * 60 * 1000)
  assert.equal(await status(), 200)
  t.mock.timers.tick(61 * 60 * 1000)
  assert.equal(await status(), 401)
})

test('after ten sign-ins in a minute from one address the next has to wait', async (t) => {
  const app = await start(t)
  for (let count = 0; count < 10; count++) assert.equal((await signIn(app, 'wrong')).statusCode, 401)
  const refused = await signIn(app, 'right')
  assert.equal(refused.statusCode, 429)
  assert.ok(Number(refused.headers['retry-after']) <= 60)
})

test('after a hundred sign-ins for one account, from whichever addresses, the next has to wait', async (t) => {
  const app = await start(t)
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  for (let count = 0; count < 100; count++)
    assert.equal((await signIn(app, 'wrong', 'reader', `192.0.2.${count}`)).statusCode, 401)
  for (let count = 0; count < 5000; count++)
    await signIn(app, 'wrong', `other${count}`, `10.0.${count >> 8}.${count & 255}`)
  const refused = await signIn(app, 'right', 'reader', '192.0.2.200')
  assert.equal(refused.statusCode, 429)
  assert.ok(Number(refused.headers['retry-after']) > 60)
  assert.equal((await signIn(app, 'right', 'writer', '192.0.2.200')).statusCode, 303)
})

test('answers tell browsers to be careful and how people sign in; slow clients are cut off', async (t) => {
  const app = await start(t)
  for (const url of ['/', '/login', '/api/notes', '/api/activity', '/nowhere']) {
    const { headers } = await app.inject({ url, headers: { accept: 'text/html', 'sec-fetch-mode': 'cors' } })
    assert.match(
      String(headers['content-security-policy']),
      /default-src 'none'.*frame-ancestors 'none'/,
      url,
    )
    assert.equal(headers['x-content-type-options'], 'nosniff', url)
    assert.equal(headers['cache-control'], 'no-store', url)
  }
  assert.equal((await app.inject('/api/activity')).headers['www-authenticate'], 'Cookie')
  assert.equal(app.server.requestTimeout, 30_000)
})
