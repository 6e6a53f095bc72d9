/** Settings beside the gate, with and without it: its routes declare access, and check Settings.Update themselves. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Caller } from '@fastify-modular/core'
import { publicRoutes } from '@fastify-modular/public-routes'
import { expectAccess } from '@fastify-modular/public-routes/testing'
import { setting, settings, SettingScope, type TenantOptions } from '@fastify-modular/settings'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { test, type Test } from 'tap'

const alice: Caller = { id: 'alice' }
const byHeader = ({ headers }: FastifyRequest) => (headers.authorization === 'alice' ? alice : null)

const gate = (app: FastifyInstance) =>
  app.register(publicRoutes, { provider: { authenticate: byHeader }, env: false, undeclared: 'refuse' })
const withGate = (app: FastifyInstance) => app.register(settings)
const withoutRoutes = (app: FastifyInstance) => app.register(settings, { routes: false })
const withoutGate = (app: FastifyInstance) => app.register(settings, { findCaller: byHeader })

const arrangements = {
  'after the gate': [gate, withGate],
  'without the gate': [withoutGate],
} as const

async function boot(t: Test, plugins: readonly ((app: FastifyInstance) => PromiseLike<unknown>)[]) {
  const app = Fastify({ forceCloseConnections: true })
  t.teardown(() => app.close())
  for (const register of plugins) await register(app)
  await app.ready()
  return app
}

for (const [name, plugins] of Object.entries(arrangements)) {
  test(`${name}, settings answer 401, 400, 403 in this order (decision 22)`, async (t) => {
    const app = await boot(t, plugins)
    const put = (payload: object, headers = {}) =>
      app.inject({ method: 'PUT', url: '/api/settings', headers, payload })
    const known = { authorization: 'alice' }
    t.equal((await put({})).statusCode, 401)
    t.equal((await put({}, known)).statusCode, 400)
    t.equal((await put({ key: 'a.b', scope: 1, value: 1 }, known)).statusCode, 403)
    t.equal((await app.inject({ url: '/api/settings', headers: known })).statusCode, 200)
  })
}

test('settings declare their permission', async (t) => {
  const app = await boot(t, [gate, withGate])
  t.match(app.permissions.list(), [{ name: 'Settings.Update', source: 'plugin settings' }])
})

test('without routes there is nothing that needs the permission', async (t) => {
  const app = await boot(t, [gate, withoutRoutes])
  t.same(app.permissions.list(), [])
})

test('a setting that becomes public differs from the file of the access', async (t) => {
  const host = (isPublic: boolean) =>
    setting.text('mail.host', { displayName: 'Host', scope: SettingScope.System, public: isPublic })
  const withHost = (isPublic: boolean) => (app: FastifyInstance) =>
    app.register(settings, { definitions: [host(isPublic)] })
  const file = pathToFileURL(join(t.testdir(), 'access.json'))
  await writeFile(file, '[]')
  const messageOf = async (isPublic: boolean) =>
    expectAccess(await boot(t, [gate, withHost(isPublic)]), file).catch(String)
  t.notMatch(await messageOf(false), 'setting mail.host')
  t.match(await messageOf(true), '- setting mail.host is new: public')
})

test('tenants.of that names an organisation for a request without credentials differs from the file, and warns', async (t) => {
  const brand = setting.text('org.brand', { displayName: 'Brand', scope: SettingScope.Tenant, public: true })
  const start = async (of: TenantOptions['of'], guests = false) => {
    const warnings: unknown[] = []
    const stream = { write: (line: string) => void warnings.push(JSON.parse(line).msg) }
    const app = Fastify({ logger: { level: 'warn', stream } })
    t.teardown(() => app.close())
    const provider = { authenticate: byHeader }
    await app.register(publicRoutes, { provider, env: false, guests })
    await app.register(settings, { definitions: [{ brand }], tenants: { of } })
    await app.ready()
    const warned = (about = 'without credentials') => warnings.filter((text) => String(text).includes(about))
    return { app, warned }
  }
  const ofMembers = await start((_request, caller) => (caller ? 'acme' : null))
  const file = pathToFileURL(join(t.testdir(), 'access.json'))
  await writeFile(file, '[]')
  await ofMembers.app.access.compare(file, { update: true })
  await expectAccess(ofMembers.app, file)
  t.same(ofMembers.warned(), [])

  const ofAll = await start(async () => 'acme')
  await t.rejects(expectAccess(ofAll.app, file), /requests without credentials.*have a tenant/s)
  t.equal(ofAll.warned().length, 1)
  t.same(await ofAll.app.access.compare(file), [], 'a command of the command line sends no request')
  t.same((await start(async () => 'acme', true)).warned(), [])

  const failing: readonly TenantOptions['of'][] = [
    () => Promise.reject(new Error('the database is down')),
    () => 7 as never,
    (_request, caller) => (caller as unknown as { id: string }).id, // as JavaScript lets one write it
  ]
  for (const of of failing) {
    const { app, warned } = await start(of)
    await expectAccess(app, file)
    t.same(warned(), [])
    t.equal(warned('tenants.of failed for a request without a caller').length, 1)
  }
})
