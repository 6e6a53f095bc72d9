import { readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import { test } from 'tap'
import { createSettingsClient, SettingScope, SettingsRequestError } from '@fastify-modular/settings/client'
import { createApp, definitions } from '../support/app.ts'

const { System, Application, User } = SettingScope

async function createClient(t: Parameters<typeof createApp>[0], caller = 'admin') {
  const app = await createApp(t, { overrides: { 'app.banner': 'fixed' } })
  const baseUrl = `${await listen(app)}/api/settings/`
  return { app, baseUrl, client: createSettingsClient({ baseUrl, headers: () => ({ 'x-caller': caller }) }) }
}

async function listen(app: FastifyInstance): Promise<string> {
  return app.listen({ port: 0, host: '127.0.0.1' })
}

/** The error that a call rejects with. */
async function failure(call: Promise<unknown>): Promise<SettingsRequestError> {
  try {
    await call
  } catch (error) {
    if (error instanceof SettingsRequestError) return error
    throw error
  }
  throw new Error('the call did not fail')
}

test('the client reads and writes every route over HTTP', async (t) => {
  const { client } = await createClient(t)
  t.match(await client.set('app.title', 'Acme', Application), { value: 'Acme', version: 1 })
  t.match(await client.setMany([{ key: 'mail.port', scope: System, value: 25 }]), [
    { key: 'mail.port', value: 25, version: 2, revision: 2 },
  ])
  t.match(await client.preview([{ key: 'mail.port', scope: System, value: 26 }]), [
    { change: 'update', oldValue: 25, newValue: 26 },
  ])
  t.match(await client.get('app.title', Application), { value: 'Acme' })
  const port: number = await client.resolved(definitions.port)
  t.equal(port, 25)
  t.equal(await client.resolved('app.theme'), 'light')
  t.same(
    (await client.list({ scope: System, group: 'Mail' })).map(({ key }) => key),
    ['mail.password', 'mail.port'],
  )
  t.match((await client.definitions())[0], { key: 'app.title', valueSchema: {} })
  t.match(await client.setMine('app.theme', 'dark'), { value: 'dark', scope: User })
  t.match((await client.mine())[1], { key: 'app.theme', value: 'dark', inheritedValue: 'light' })
  t.match(await client.resetMine('app.theme'), { value: 'light', isOverridden: false })
  t.match(await client.inspect('app.title'), { source: 'application' })
  t.match(await client.history('app.title', { scope: Application, limit: 10 }), {
    entries: [{ newValue: 'Acme', setSize: 1 }],
    next: null,
    people: {},
  })
  const { changes, next } = await client.changes({ limit: 1 })
  t.match(changes, [{ revision: 2 }])
  t.match(await client.changes({ before: next ?? '' }), { changes: [{ revision: 1 }], next: null })
  await client.set('app.title', 'Other', Application)
  const target = { scope: Application, revision: 1, note: 'back' }
  const stale = await failure(client.restore('app.title', target, { version: 1 }))
  t.match(stale, { status: 412 })
  t.match(await client.restore('app.title', target, { version: 3 }), { value: 'Acme', version: 4 })
  t.match(await client.revert(4, { dryRun: true }), { dryRun: true, values: [{ newValue: 'Other' }] })
  t.match(await client.revert(4, { note: 'no' }), { revision: 5, values: [{ key: 'app.title' }] })
  t.match(await failure(client.revert(4)), { status: 409, conflicts: [{ key: 'app.title', version: 5 }] })
  t.match(await client.revert(4, { force: { 'app.title': 5 }, keys: ['app.title'] }), {
    values: [{ change: 'none' }],
  })
  t.match(await client.revert(5), { revision: 6 })
  t.match(await client.get('app.title', Application), { value: 'Acme', people: {} })
  const file = await client.export()
  t.match(await client.reset('app.title', Application), { value: 'Fastify Modular', version: 0, revision: 7 })
  t.match(await client.import(file, { dryRun: true }), { create: ['app.title'], dryRun: true })
  t.match(await client.import(file, { mode: 'replace' }), { create: ['app.title'], dryRun: false })
  t.same(await client.publicValues(), { 'app.primary_color': '#3b82f6' })
})

test('a write names the change set that it made, and none where it changed nothing', async (t) => {
  const { client } = await createClient(t)
  const title = (value: string | null) => ({ key: 'app.title', scope: Application, value })
  const port = { key: 'mail.port', scope: System, value: 25 }
  t.match(await client.setMany([title('A'), port]), [{ revision: 1 }, { revision: 1 }])
  t.match(await client.setMany([title('A'), port]), [{ revision: null }, { revision: null }])
  t.match(await client.setMany([title('B'), port]), [
    { version: 2, revision: 2 },
    { version: 1, revision: null },
  ])
  t.match(await client.set('app.title', 'B', Application), { version: 2, revision: null })
  t.match(await client.set('app.title', 'C', Application), { version: 3, revision: 3 })
  t.match(await client.reset('app.title', Application), { version: 0, revision: 4 })
  t.match(await client.reset('app.title', Application), { version: 0, revision: null })
  const secret = { key: 'mail.password', scope: System, value: 'x' }
  t.match(await client.setMany([secret]), [{ revision: 5 }])
  t.match(await client.setMany([secret]), [{ revision: 6 }], 'whether a secret is equal is not told')
})

test('failures carry the members of the problem', async (t) => {
  const { client } = await createClient(t)
  t.match(await failure(client.set('mail.port', 0, System)), {
    status: 422,
    code: 'SETTING_VALIDATION',
    errors: { 'mail.port': [String] },
    requestId: String,
  })
  t.match(await failure(client.set('no.such', 0, System)), { status: 404, code: 'NOT_FOUND' })
  t.match(await failure(client.set('app.title', 'x', Application, { version: 7 })), { status: 412 })
  t.match(await failure(client.setMany([{ key: 'app.title', scope: Application, value: 'x', version: 7 }])), {
    status: 409,
    conflicts: [{ key: 'app.title', scope: Application, version: 0 }],
  })
  t.match(await failure(client.set('app.banner', 'x', Application)), { status: 409, locked: ['app.banner'] })
  t.match(await failure(client.get('../../me', Application)), { status: 404 }, 'a key is never a path')
})

test('members that options do not have are not sent', async (t) => {
  const { client } = await createClient(t)
  const wide = { title: 'of a larger object', note: 5 }
  t.match(await client.history('app.title', { limit: 1, ...wide }), { entries: [] })
  t.match(await client.changes({ limit: 1, ...wide }), { changes: [] })
  const file = await client.export()
  t.match(await client.import(file, { mode: 'merge', ...wide }), { dryRun: false })
  await client.set('app.title', 'Acme', Application)
  t.match(await client.revert(1, { dryRun: true, ...wide, note: 'back' }), { dryRun: true })
})

test('without an answer the status is 0; an abort of the caller is the caller’s', async (t) => {
  const { baseUrl } = await createClient(t)
  const closed = createSettingsClient({ baseUrl: 'http://127.0.0.1:1/api/settings' })
  t.match(await failure(closed.mine()), { status: 0, code: 'NETWORK' })
  const never: typeof fetch = (_url, init) =>
    new Promise((_resolve, reject) =>
      init?.signal?.addEventListener('abort', () => reject(new Error('aborted'))),
    )
  const slow = createSettingsClient({ baseUrl, fetch: never, timeout: 20 })
  const pending = failure(slow.mine())
  const keepAlive = setTimeout(() => {}, 5000) // a time-out alone keeps no process waiting
  t.match(await pending, { status: 0, code: 'NETWORK' })
  clearTimeout(keepAlive)
  const controller = new AbortController()
  const aborted = createSettingsClient({ baseUrl, fetch: never }).mine({ signal: controller.signal })
  controller.abort()
  await t.rejects(aborted, { message: 'aborted' })
  const html: typeof fetch = async () => new Response('<html>', { status: 502 })
  t.match(await failure(createSettingsClient({ baseUrl, fetch: html }).mine()), {
    status: 502,
    code: 'UNKNOWN',
  })
})

test('the client has no dependencies: it loads nothing but its own files', async (t) => {
  const pending = [new URL('../../dist/client/index.js', import.meta.url)]
  const loaded = new Set<string>()
  for (const file of pending) {
    if (loaded.size === loaded.add(file.href).size) continue
    for (const [, specifier = ''] of (await readFile(file, 'utf8')).matchAll(/from ["']([^"']+)["']/g)) {
      t.match(specifier, /^\.\.?\//)
      pending.push(new URL(specifier, file))
    }
  }
  t.same([...loaded].map((href) => href.split('/dist/')[1] ?? '').toSorted(), [
    'client/client.js',
    'client/index.js',
    'client/request.js',
    'setting-definition.js',
  ])
})
