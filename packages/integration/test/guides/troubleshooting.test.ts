/** Each symptom of docs/guides/troubleshooting.md, provoked, and gone with what the guide says. */
import { readFile } from 'node:fs/promises'
import { defineEvent, modules } from '@fastify-modular/core'
import { eventsOf } from '@fastify-modular/core/testing'
import { createErrorServerOptions, errors } from '@fastify-modular/errors'
import { publicRoutes } from '@fastify-modular/public-routes'
import { setting, settings, SettingScope } from '@fastify-modular/settings'
import { writeGuideCode } from '@fastify-modular/test-support/guide-code'
import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import fp from 'fastify-plugin'
import { test, type Test } from 'tap'

const guide = new URL('../../../../docs/guides/troubleshooting.md', import.meta.url)
const ada = { id: 'ada' }
/** Whoever sends the header is Ada. */
const provider = {
  authenticate: ({ headers }: { headers: Record<string, unknown> }) => (headers['x-ada'] ? ada : null),
}
const title = setting.text('app.title', {
  displayName: 'Title',
  scope: SettingScope.Application,
  default: 'Notes',
})
class Shared extends defineEvent('notes.shared', Type.Object({})) {}

const known = new Set<string>()

function symptom(heading: string, run: (t: Test) => Promise<void>): void {
  known.add(heading)
  void test(heading, run)
}

/** The symptom needs more than an application: another file of the repository provokes it. */
function elsewhere(heading: string, path: string, text: string): void {
  symptom(heading, async (t) => {
    const file = await readFile(new URL(`../../../../packages/${path}`, import.meta.url), 'utf8')
    t.ok(file.includes(text))
  })
}

function create(t: Test, options: FastifyServerOptions = {}): FastifyInstance {
  const app = Fastify(options)
  t.teardown(() => app.close())
  return app
}

const gate = (app: FastifyInstance) => app.register(publicRoutes, { provider, env: false })

symptom('`app.settings` is undefined, although settings are registered', async (t) => {
  const app = create(t)
  void app.register(settings)
  t.equal(app.settings, undefined)
  const scoped = create(t)
  await scoped.register(async (inner) => void inner.register(settings))
  t.equal(scoped.settings, undefined)
  const right = create(t)
  await right.register(fp(async (inner) => void inner.register(settings)))
  t.ok(right.settings)
})

symptom('A decorator exists in one plugin and not in its neighbour', async (t) => {
  const database = () => async (app: FastifyInstance) => void app.decorate('database', 'open')
  for (const [plugin, expected] of [
    [database(), false],
    [fp(database(), { name: 'database' }), true],
  ] as const) {
    const app = create(t)
    await app.register(plugin)
    await app.register(async (neighbour) => {
      t.equal(neighbour.hasDecorator('database'), expected)
    })
  }
})

symptom('TypeScript does not know `app.settings`', async (t) => {
  const index = await readFile(new URL('../../../../packages/settings/src/index.ts', import.meta.url), 'utf8')
  t.match(index, /declare module 'fastify'[^]*readonly settings: Settings/, 'the type comes with the import')
})

symptom(
  'The boot ends after ten seconds with FST_ERR_PLUGIN_TIMEOUT or AVV_ERR_PLUGIN_EXEC_TIMEOUT',
  async (t) => {
    const app = create(t, { pluginTimeout: 20 })
    await t.rejects(async () => await app.register(() => new Promise<void>(() => {})), {
      code: /AVV_ERR_(?:PLUGIN_EXEC|READY)_TIMEOUT|FST_ERR_PLUGIN_TIMEOUT/,
    })
  },
)

symptom('A hook of mine does not run', async (t) => {
  const app = create(t)
  const seen: string[] = []
  const routes: string[] = []
  await app.register(async (early) => void early.get('/early', async () => 'early'))
  app.get('/before', async () => 'before')
  await app.register(async (neighbour) => {
    neighbour.addHook('onRequest', async ({ url }) => void seen.push(`neighbour ${url}`))
  })
  app.addHook('onRequest', async ({ url }) => void seen.push(url))
  app.addHook('onRoute', ({ method, url }) => void (method === 'GET' && routes.push(url)))
  await app.register(async (late) => void late.get('/late', async () => 'late'))
  for (const url of ['/early', '/before', '/late']) await app.inject(url)
  t.same(seen, ['/early', '/before', '/late'])
  t.same(routes, ['/late'])
})

symptom("The error has Fastify's own body, `{ statusCode, error, message }`", async (t) => {
  const app = create(t)
  const failing = (url: string) => async (inner: FastifyInstance) => {
    inner.get(url, async () => Promise.reject(new Error('mine')))
  }
  await app.register(failing('/outside'))
  await app.register(async (scope) => {
    await scope.register(errors)
    await scope.register(failing('/inside'))
  })
  t.match((await app.inject('/outside')).json(), { statusCode: 500, error: 'Internal Server Error' })
  t.match((await app.inject('/inside')).json(), { status: 500, title: 'Internal Server Error' })
  t.match((await app.inject('/%zz')).json(), { statusCode: 400, error: 'Bad Request' })
  const right = create(t, createErrorServerOptions())
  await right.register(errors)
  t.match((await right.inject('/%zz')).json(), { status: 400, title: 'Bad Request' })
})

symptom('Browsers are sent to http, and cookies are not Secure', async (t) => {
  for (const [options, protocol] of [
    [{}, 'http'],
    [{ trustProxy: 'uniquelocal, loopback' }, 'https'],
  ] as const) {
    const app = create(t, options)
    app.get('/', async (request) => request.protocol)
    t.equal((await app.inject({ url: '/', headers: { 'x-forwarded-proto': 'https' } })).body, protocol)
  }
})

symptom('A write answers 403, although the caller is signed in', async (t) => {
  const app = create(t)
  await gate(app)
  await app.register(settings, { definitions: [title] })
  const payload = { key: 'app.title', scope: 1, value: 'x' }
  const headers = { 'x-ada': '1' }
  const refused = await app.inject({ method: 'PUT', url: '/api/settings', headers, payload })
  t.equal(refused.statusCode, 403)
  t.match(refused.json().detail, /Settings\.Update/)
})

symptom('A handler never runs', async (t) => {
  const calls: string[] = []
  class Tell {
    static event = Shared
    handle = () => void calls.push('Tell')
  }
  class TellHandler {
    static event = Shared
    handle = () => void calls.push('TellHandler')
  }
  const app = create(t)
  await app.register(modules, { modules: [{ name: 'followers', handlers: { Tell, TellHandler } }] })
  const record = eventsOf(app)
  await app.events.publish(new Shared({}))
  t.equal(app.events.stats().published, 1)
  t.same(calls, [])
  await app.ready()
  await record.waitFor('followers.TellHandler')
  t.same(calls, ['TellHandler'])
})

/** Symptoms that need no more than one package: a test there provokes each. */
const ofOnePackage: Readonly<Record<string, readonly [path: string, test: string]>> = {
  'Every route answers 401': ['public-routes/test/gate/gate.test.ts', 'an anonymous one neither, by no verb'],
  'A public route answers 401': ['public-routes/test/review/explain.test.ts', 'explain names the decision'],
  '`request.caller` is null': [
    'public-routes/test/gate/gate.test.ts',
    'a public path resolves the caller of a valid session',
  ],
  'Values are gone after a restart': ['settings/test/service/boot.test.ts', 'not persisted'],
  'A stored value is not used': [
    'settings/test/service/reads.test.ts',
    'a stored value that no longer fits counts as unset',
  ],
  'A write answers 409 or 412': ['settings/test/http/refusals.test.ts', '409 CONFLICT'],
  'The test process does not end': [
    'settings/test/store/sqlite/sqlite.test.ts',
    'a connection that was handed over stays open',
  ],
}
for (const [heading, [path, text]] of Object.entries(ofOnePackage)) elsewhere(heading, path, text)

/** Codes whose cause needs no more than their package: a test there provokes each. */
const provoked: Readonly<Record<string, string>> = {
  FMOD_PUBLIC_ROUTES_NOT_AT_ROOT: 'public-routes/test/review/audit.test.ts',
  FMOD_CORE_CONTRIBUTION_WITHOUT_PLUGIN: 'core/test/modules/modules.test.ts',
  FMOD_SETTINGS_CALLER_DECLARED_LATER: 'settings/test/http/host.test.ts',
  FMOD_PUBLIC_ROUTES_BEFORE_GATE: 'integration/test/boot-order.test.ts',
  FMOD_ERRORS_HANDLER_TAKEN: 'errors/test/boot.test.ts',
  FMOD_ERRORS_REGISTERED_LATE: 'errors/test/boot.test.ts',
  FMOD_SETTINGS_MISSING_ENCRYPTION_KEYS: 'settings/test/service/secrets.test.ts',
  FMOD_SETTINGS_DRIVER_UNSUPPORTED: 'settings/test/store/sqlite/node-driver.test.ts',
  FMOD_SETTINGS_FOREIGN_EVENTS: 'settings/test/service/stores.test.ts',
}
for (const [code, path] of Object.entries(provoked)) elsewhere(code, path, code)
elsewhere('FMOD_CORE_DECORATOR_MISSING from `injectAs`', 'core/test/testing.test.ts', 'DECORATOR_MISSING')
const late = 'FMOD_CORE_ADDED_LATE'
for (const path of ['settings/test/definitions/registry', 'public-routes/test/registry', 'errors/test/boot'])
  elsewhere(late, `${path}.test.ts`, late)

elsewhere('An event is handled twice', 'core/test/events/crashes.test.ts', 'SIGKILL')

symptom('FST_ERR_INSTANCE_ALREADY_LISTENING', async (t) => {
  const app = create(t)
  await app.inject('/')
  t.throws(() => app.addHook('onRequest', async () => {}), { code: /^FST_ERR_INSTANCE_ALREADY_/ })
})

test('the guide and this file have the same symptoms', async (t) => {
  const headings = [...(await readFile(guide, 'utf8')).matchAll(/^### (.+)$/gm)].map(([, text]) => text)
  t.same(known, new Set(headings))
})

test('the application of the guide boots in its order', async (t) => {
  const [file = ''] = writeGuideCode(guide, new URL('./code/', import.meta.url))
  const { build } = (await import(file)) as {
    build: (given: object, list: readonly object[]) => Promise<FastifyInstance>
  }
  const app = await build(provider, [{ name: 'shop', settings: { title } }])
  t.teardown(() => app.close())
  await app.ready()
  t.equal((await app.inject('/about')).body, 'own routes come last')
  t.equal((await app.inject('/settings/preferences')).statusCode, 401)
})
