/** The plugins in every order, awaited and not: right, or a boot error that names the mistake, never a hole (architecture). */
import { EventEmitter } from 'node:events'
import Fastify, { type FastifyInstance } from 'fastify'
import { test } from 'tap'
import { defineModule, events, modules } from '@fastify-modular/core'
import { errors } from '@fastify-modular/errors'
import { inertia } from '@fastify-modular/inertia'
import { publicRoutes } from '@fastify-modular/public-routes'
import { memoryStore, setting, settings, SettingScope } from '@fastify-modular/settings'
import { settingsUi } from '@fastify-modular/settings-ui'

const limit = setting.number('shop.limit', {
  displayName: 'Limit',
  scope: SettingScope.Application,
  default: 3,
})

const ada = { id: 'ada' }

const plugins = {
  errors: (app: FastifyInstance) => app.register(errors),
  publicRoutes: (app: FastifyInstance) =>
    app.register(publicRoutes, {
      provider: { authenticate: ({ headers }) => (headers['x-ada'] === undefined ? null : ada) },
    }),
  settings: (app: FastifyInstance) => app.register(settings),
  modules: (app: FastifyInstance, read: number[]) => app.register(modules, { modules: [shop(read)] }),
}

type Name = keyof typeof plugins

/** A module that uses everything: definitions, rules, a setting read at once in its body, routes that are open, closed and broken. */
function shop(read: number[]) {
  return defineModule({
    name: 'shop',
    settings: { limit },
    publicRoutes: (registry) => void registry.addExact('/open', { methods: ['GET'] }),
    plugin: async (scope) => {
      read.push(scope.settings.get(limit))
      scope.get('/open', async () => 'open')
      scope.get('/closed', async () => 'closed')
      scope.get('/fails', { config: { access: 'public' } }, async () => {
        throw new Error('secret of the database')
      })
    },
  })
}

async function boot(order: readonly Name[], awaited: boolean): Promise<string> {
  const app = Fastify()
  const read: number[] = []
  try {
    for (const name of order) {
      const registered = plugins[name](app, read)
      if (awaited) await registered
    }
    await app.ready()
    const open = await app.inject('/open')
    const closed = await app.inject('/closed')
    const list = await app.inject('/api/settings')
    const fails = await app.inject('/fails')
    const missing = await app.inject({ url: '/nope', headers: { accept: 'application/json' } })
    const unknown = await app.inject({ url: '/api/settings/none/resolved', headers: { 'x-ada': '' } })
    const problem = (response: typeof closed) =>
      `${response.statusCode} ${String(response.headers['content-type'])}`
    const page = await app.inject({ method: 'HEAD', url: '/error/404' })
    return [
      read.join(),
      open.body,
      page.statusCode,
      errorPageLines(app),
      problem(closed),
      problem(list),
      fails.body.includes('secret') ? 'leaked' : problem(fails),
      problem(missing),
      problem(unknown),
    ].join(' | ')
  } catch (error) {
    return String((error as { code?: string }).code ?? error)
  } finally {
    await app.close()
  }
}

/** What the table says about the error pages, which declare themselves public and may stand before the gate. */
function errorPageLines(app: FastifyInstance): string {
  return app.access
    .table()
    .flatMap(({ method, url, access }) => (url.startsWith('/error/') && access === 'public' ? [method] : []))
    .join()
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]]
  return items.flatMap((item, at) => permutations(items.toSpliced(at, 1)).map((rest) => [item, ...rest]))
}

const unauthorized = '401 application/problem+json'
const right = `3 | open | 404 | GET,HEAD | ${unauthorized} | ${unauthorized} | 500 application/problem+json | ${unauthorized} | 404 application/problem+json`

/** Modules need the plugins to which they contribute and the handler of errors, and the gate comes before all routes but those of errors. */
function expectedOf(order: readonly Name[]): string {
  const at = (name: Name): number => order.indexOf(name)
  if (at('modules') < Math.max(at('settings'), at('publicRoutes')))
    return 'FMOD_CORE_CONTRIBUTION_WITHOUT_PLUGIN'
  if (at('settings') < at('publicRoutes')) return 'FMOD_PUBLIC_ROUTES_BEFORE_GATE'
  return Math.min(at('settings'), at('modules')) < at('errors') ? 'FMOD_ERRORS_REGISTERED_LATE' : right
}

test('48 boots: every order of the plugins is right or says what is wrong', async (t) => {
  const outcomes = new Map<string, number>()
  for (const order of permutations(Object.keys(plugins) as Name[])) {
    for (const awaited of [true, false]) {
      const outcome = await boot(order, awaited)
      t.equal(outcome, expectedOf(order), `${order.join(' → ')}${awaited ? ', awaited' : ''}`)
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    }
  }
  t.same(
    outcomes,
    new Map([
      [right, 4],
      ['FMOD_ERRORS_REGISTERED_LATE', 4],
      ['FMOD_PUBLIC_ROUTES_BEFORE_GATE', 8],
      ['FMOD_CORE_CONTRIBUTION_WITHOUT_PLUGIN', 32],
    ]),
  )
})

const store = {
  ...memoryStore(),
  history: () => Promise.reject(new Error('SECRET password=hunter2')),
}
const own = (app: FastifyInstance) =>
  app.register(settings, { store, findCaller: () => ({ ...ada, isAdmin: true }), definitions: [limit] })
const withErrors: Record<string, (app: FastifyInstance) => Promise<unknown>> = {
  'no errors plugin': async (app) => own(app),
  'the errors plugin first': async (app) => app.register(errors).then(() => own(app)),
  'its handler off': async (app) => app.register(errors, { errorHandler: false }).then(() => own(app)),
}

for (const [name, register] of Object.entries(withErrors)) {
  test(`a fault of the settings is told to nobody: ${name}`, async (t) => {
    const app = Fastify()
    t.teardown(() => app.close())
    await register(app)
    const { statusCode, headers, payload } = await app.inject('/api/settings/shop.limit/history')
    t.equal(statusCode, 500)
    t.equal(headers['content-type'], 'application/problem+json')
    t.notMatch(payload, 'SECRET')
  })
}

type Register = (app: FastifyInstance) => PromiseLike<unknown>

/** The plugins that use a name of the application, beginning with the one that decorates it. */
const users: Readonly<Record<string, readonly Register[]>> = {
  events: [(app) => app.register(events), plugins.settings],
  modules: [(app) => app.register(modules, { modules: [] })],
  problems: [plugins.errors, plugins.publicRoutes, plugins.settings],
  publicRoutes: [plugins.publicRoutes, plugins.settings, (app) => app.register(settingsUi)],
  access: [plugins.publicRoutes],
  permissions: [plugins.publicRoutes],
  inertia: [(app) => app.register(inertia)],
  settings: [plugins.settings],
}

for (const [name, [ours, ...others]] of Object.entries(users)) {
  test(`FMOD_CORE_DECORATOR_TAKEN: the application's own ${name} is refused by name, before or after ours`, async (t) => {
    const refused = { code: 'FMOD_CORE_DECORATOR_TAKEN', message: new RegExp(`decorator ${name} of`) }
    for (const register of ours === undefined ? [] : [ours, ...others]) {
      const app = Fastify()
      app.decorate(name, new EventEmitter())
      await t.rejects(async () => {
        await register(app)
        await app.ready()
      }, refused)
      await app.close()
    }
    const app = Fastify()
    const register = ours?.(app)
    app.decorate(name, new EventEmitter()) // before the plugin runs, which is not awaited
    await t.rejects(async () => register, refused)
    await app.close()

    const later = Fastify()
    await ours?.(later)
    t.throws(() => later.decorate(name, {}), { code: 'FST_ERR_DEC_ALREADY_PRESENT', message: name })
    await later.close()
  })
}

test("the application's own decorator of one scope leaves those outside of it as they are", async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const read: number[] = []
  await plugins.errors(app)
  await plugins.publicRoutes(app)
  await plugins.settings(app)
  await plugins.modules(app, read)
  await app.register(async (scope) => {
    for (const name of ['events', 'modules', 'settings']) scope.decorate(name, new EventEmitter())
    scope.get('/own', { config: { access: 'public' } }, async () => Object.keys(scope.events).length)
  })
  await app.ready()
  t.equal((await app.inject('/own')).statusCode, 200)
  t.equal((await app.inject('/closed')).statusCode, 401)
  t.same(read, [3])
})
