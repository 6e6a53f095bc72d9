import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import type { Caller } from '@fastify-modular/core'
import { eventsOf, injectAs, testCallers } from '@fastify-modular/core/testing'
import { expectAccess } from '@fastify-modular/public-routes/testing'
import { memoryStore, SettingScope } from '@fastify-modular/settings'
import type { FastifyInstance } from 'fastify'
import { createApp } from '../src/app.ts'
import { NoteAdded } from '../src/notes.ts'

const writer: Caller = { id: 'writer', permissions: ['Notes.Write'], isAdmin: false }
const reader: Caller = { id: 'reader', permissions: [], isAdmin: false }

async function start(t: TestContext): Promise<FastifyInstance> {
  const app = await createApp({
    store: memoryStore(),
    signIn: async (user, password) => (user === reader.id && password === 'right' ? reader : null),
    sessionSecret: randomBytes(32).toString('hex'),
    logLevel: 'silent',
  })
  t.after(() => app.close())
  testCallers(app)
  return app
}

const newNote = (text: string) => ({ method: 'POST', url: '/api/notes', payload: { text } }) as const

test('every route has the access of access.json', async (t) => {
  await expectAccess(await start(t), new URL('../../access.json', import.meta.url))
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
  await app.settings.setSetting('notes.shown', 2, SettingScope.Application)
  await app.settings.setSetting('notes.order', 'oldest', SettingScope.User, reader.id)
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

  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const signIn = (password: string) =>
    app.inject({ method: 'POST', url: '/login', headers: form, payload: `user=reader&password=${password}` })
  assert.equal((await signIn('wrong')).statusCode, 401)
  const signedIn = await signIn('right')
  assert.equal(signedIn.statusCode, 303)

  const cookies = Object.fromEntries(signedIn.cookies.map(({ name, value }) => [name, value]))
  assert.equal((await app.inject({ url: '/settings/preferences', headers: html, cookies })).statusCode, 200)
  assert.equal((await app.inject({ method: 'POST', url: '/logout', cookies })).statusCode, 303)
  assert.equal((await app.inject({ url: '/api/activity', cookies })).statusCode, 401)
})
