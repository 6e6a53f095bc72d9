/** What the boot refuses about declared access. */
import { inspect } from 'node:util'
import { defineModule, type Module, modules } from '@fastify-modular/core'
import { publicRoutes } from '@fastify-modular/public-routes'
import Fastify, { type FastifyInstance } from 'fastify'
import { test, type Test } from 'tap'
import { gatedApp, headerProvider } from '../support/application.ts'
import { booted, ran, statuses, withModules } from '../support/declared-application.ts'

async function bootError(
  t: Test,
  boot: () => Promise<FastifyInstance>,
): Promise<{ code: string; message: string }> {
  try {
    await (await boot()).ready()
  } catch (err) {
    return err as { code: string; message: string }
  }
  t.fail('the application booted')
  return { code: '', message: '' }
}

const unusable: readonly (readonly [string, Record<string, unknown>])[] = [
  ['a number', { access: 1 }],
  ['null', { access: null }],
  ['a bigint', { access: 1n }],
  ['a list with a bigint', { access: { anyOf: [1n] } }],
  ['a documented permission that is a bigint', { checkedByHandler: 1n }],
  ['what a configuration inherits', Object.create({ access: 'Notes.Edit' })],
  [
    'a documented permission that a configuration inherits',
    Object.create({ checkedByHandler: 'Notes.Edit' }),
  ],
  ['a boolean', { access: true }],
  ['an empty text', { access: '' }],
  ['a wildcard', { access: 'Notes.*' }],
  ['a verb', { access: 'get' }],
  ['an empty object', { access: {} }],
  ['an empty list', { access: { allOf: [] } }],
  ['a list with a hole', { access: { anyOf: Object.assign(['Notes.Edit'], { length: 2 }) } }],
  ['a reserved word in a list', { access: { anyOf: ['public', 'Notes.Edit'] } }],
  ['allOf and anyOf', { access: { allOf: ['Notes.Edit'], anyOf: ['Ops.Read'] } }],
  ['a list and a verb', { access: { allOf: ['Notes.Edit'], GET: 'public' } }],
  ['a verb in lower case', { access: { get: 'public' } }],
  ['a verb that the route does not serve', { access: { POST: 'public' } }],
  ['HEAD, which follows GET', { access: { GET: 'public', HEAD: 'signed-in' } }],
  ['a verb with an unusable access', { access: { GET: { GET: 'public' } } }],
  ['an unusable documented permission', { checkedByHandler: 'public' }],
  ['a constant that is undefined', { access: undefined }],
  ['a documented permission that is undefined', { checkedByHandler: undefined }],
  ['a constant that is undefined for a verb', { access: { GET: undefined } }],
]

for (const [name, config] of unusable) {
  test(`the boot refuses ${name} as the access of a route`, async (t) => {
    const error = await bootError(t, () => booted(t, async (app) => void app.get('/notes', { config }, ran)))
    t.equal(error.code, 'FMOD_PUBLIC_ROUTES_INVALID_ACCESS')
    t.match(error.message, 'GET /notes')
  })
}

/** What would lose a permission without a word, with what the message says. */
const misspelt: readonly (readonly [object, string])[] = [
  [{ config: { acess: 'Notes.Edit' } }, 'config.acess declares nothing (did you mean access?).'],
  [{ config: { Access: 'Notes.Edit' } }, 'config.Access declares nothing (did you mean access?).'],
  [{ config: { acecss: 'Notes.Edit' } }, 'config.acecss declares nothing (did you mean access?).'],
  [{ config: { acces: { GET: 'Notes.Edit' } } }, 'config.acces declares nothing (did you mean access?).'],
  [
    { config: { access: 'signed-in', checkedbyhandler: 'Notes.Edit' } },
    'config.checkedbyhandler declares nothing (did you mean checkedByHandler?).',
  ],
  [{ access: 'Notes.Edit' }, 'access beside config declares nothing; write config: { access }'],
  [{ Acess: 'Notes.Edit', config: { access: 'public' } }, 'Acess beside config declares nothing'],
  [{ checkedByHandler: 'Notes.Edit' }, 'write config: { checkedByHandler }'],
  [{ confg: { access: 'Notes.Edit' } }, 'the option confg declares nothing (did you mean config?).'],
]
type Add = (app: FastifyInstance, options: object) => void
const ways: Readonly<Record<string, Add>> = {
  'app.get': (app, options) => void app.get('/notes', options, ran),
  'app.all': (app, options) => void app.all('/notes', options, ran),
  'app.route': (app, options) =>
    void app.route({ ...options, method: ['GET', 'POST'], url: '/notes', handler: ran }),
}

for (const [options, fault] of misspelt) {
  test(`the boot refuses a route with ${inspect(options)}, whoever would give it a default`, async (t) => {
    for (const [way, add] of Object.entries(ways)) {
      const plugin = async (app: FastifyInstance) => add(app, options)
      const permissions = { 'Notes.Edit': {} }
      const error = await bootError(t, () =>
        withModules(t, [defineModule({ name: 'notes', access: 'signed-in', permissions, plugin })], {
          undeclared: 'refuse',
        }),
      )
      t.match(error, { code: 'FMOD_PUBLIC_ROUTES_INVALID_ACCESS', message: fault }, way)
      t.match(error.message, '/notes cannot be used', way)
    }
  })
}

test('members of a configuration that other plugins read are no misspelt access', async (t) => {
  const names = ['success', 'process', 'accesses', 'accessor', 'accessKey', 'rateLimit', 'swagger', 'public']
  const config = { access: 'Notes.Edit', ...Object.fromEntries(names.map((name) => [name, true])) }
  const app = await booted(t, async (scope) => void scope.get('/notes', { config }, ran))
  t.equal(await statuses(app, '/notes'), '401/403')
})

test('a misspelt access of a module and of the gate stops the boot with the right name', async (t) => {
  const access = { GET: 'signed-in' }
  for (const name of ['acess', 'Access', 'acecss']) {
    const module = { name: 'notes', [name]: 'signed-in' } as unknown as Module
    const ofModule = await bootError(t, () => withModules(t, [module]))
    t.match(ofModule.message, `"${name}" (did you mean "access"?)`)
    const ofGate = await bootError(t, () => gatedApp(t, { [name]: access } as object))
    t.match(ofGate.message, `${name} (did you mean access?)`)
  }
})

test('the boot refuses an access that is undefined of a module and the option', async (t) => {
  const module = { name: 'notes', access: undefined } as unknown as Module
  const ofModule = await bootError(t, () => withModules(t, [module]))
  t.match(ofModule, { code: 'FMOD_CORE_INVALID_MODULE', message: /"notes".*its access is undefined/ })
  for (const access of [undefined, { '/docs': undefined }]) {
    const ofOption = await bootError(t, () => gatedApp(t, { access: access as never }))
    t.match(ofOption.code, /^FMOD_(CORE_INVALID_OPTION|PUBLIC_ROUTES_INVALID_ACCESS)$/)
  }
})

test('the boot refuses a list of permissions that does not say whether all or any of them are needed', async (t) => {
  const error = await bootError(t, () =>
    booted(t, async (app) => void app.get('/notes', { config: { access: ['Notes.Edit'] as never } }, ran)),
  )
  t.match(error, {
    code: 'FMOD_PUBLIC_ROUTES_INVALID_ACCESS',
    message: 'GET /notes cannot be used: it is an array; use { anyOf: [...] } or { allOf: [...] }',
  })
})

const unusableEntries: readonly Record<string, unknown>[] = [
  { docs: 'public' },
  { 'get /docs': 'public' },
  { 'FETCH /docs': 'public' },
  { '/docs': { GET: 'public' } },
  { '/docs': 5 },
  { '/*': 'public' },
  { '*': 'public' },
  { 'GET *': 'public' },
  { '/docs': 1n },
]

for (const access of unusableEntries) {
  test(`the boot refuses the entry ${inspect(access)} of the option access`, async (t) => {
    const error = await bootError(t, () =>
      booted(t, async (app) => void app.get('/docs', ran), { access: access as Record<string, string> }),
    )
    t.equal(error.code, 'FMOD_PUBLIC_ROUTES_INVALID_ACCESS')
  })
}

test('the boot refuses entries of the option access that meet no route, with all of their names', async (t) => {
  const error = await bootError(t, () =>
    booted(t, async (app) => void app.get('/docs', ran), {
      access: { '/docs': 'public', 'POST /docs': 'Ops.Read', '/doc/*': 'public' },
    }),
  )
  t.equal(error.code, 'FMOD_PUBLIC_ROUTES_ACCESS_WITHOUT_EFFECT')
  t.match(error.message, 'option access "POST /docs" matches no route;')
  t.match(error.message, 'option access "/doc/*" matches no route (did you mean "/docs"?)')
  t.notMatch(error.message, 'option access "/docs"')
})

test('the boot refuses permissions that nothing declares, and names the nearest one', async (t) => {
  const error = await bootError(t, () =>
    booted(
      t,
      async (app) => {
        app.get('/a', { config: { access: 'Notes.Edti' } }, ran)
        app.get('/b', { config: { access: { anyOf: ['Ops.Read', 'Billing.Refund'] } } }, ran)
        app.get('/c', { config: { access: 'signed-in', checkedByHandler: 'Ops.Raed' } }, ran)
      },
      { access: { '/c': 'Ops.Rad' } },
    ),
  )
  t.equal(error.code, 'FMOD_PUBLIC_ROUTES_UNKNOWN_PERMISSION')
  t.match(error.message, '"Notes.Edti" by GET /a (did you mean "Notes.Edit"?)')
  t.match(error.message, '"Billing.Refund" by GET /b')
  t.match(error.message, '"Ops.Raed" by GET /c (did you mean "Ops.Read"?)')
  t.match(error.message, '"Ops.Rad" by option access "/c" (did you mean "Ops.Read"?)')
})

test('undeclared: refuse names every route that nothing speaks for', async (t) => {
  const error = await bootError(t, () =>
    booted(
      t,
      async (app) => {
        app.publicRoutes.addRegex('/some/7$').addSubtree('/all')
        app.get('/some/:id', ran)
        app.get('/all/:id', ran)
        app.get('/own', { config: { access: 'signed-in' } }, ran)
        app.get('/shorthand', { config: { access: 'public' } }, ran)
        app.route({
          method: ['GET', 'POST'],
          url: '/half',
          config: { access: { GET: 'public' } },
          handler: ran,
        })
        app.get('/forgotten', ran)
      },
      { undeclared: 'refuse' },
    ),
  )
  t.equal(error.code, 'FMOD_PUBLIC_ROUTES_UNDECLARED')
  t.same(error.message.match(/^- .*$/gm), [
    '- GET /some/:id: "* regex /some/7$" (application) could open some of its paths',
    '- POST /half',
    '- GET /forgotten',
  ])
})

test('undeclared: refuse lets an application start that declares everything', async (t) => {
  const app = await withModules(
    t,
    [defineModule({ name: 'a', access: 'signed-in', plugin: async (scope) => void scope.get('/a', ran) })],
    { undeclared: 'refuse' },
  )
  t.equal(await statuses(app, '/a'), '401/200')
})

for (const url of ['/a%3Ab', '/a;b', '/a//b', '/a/../b', '/a;b/:id', '/a/:id/b;c']) {
  test(`the boot refuses ${url} as public: no canonical path leads to it`, async (t) => {
    const add = (config: object) => () => booted(t, async (app) => void app.get(url, { config }, ran))
    const error = await bootError(t, add({ access: 'public' }))
    t.equal(error.code, 'FMOD_PUBLIC_ROUTES_INVALID_ACCESS')
    t.match(error.message, `GET ${url}`)
    t.match(error.message, 'change its URL')
    t.notMatch(error.message, '"signed-in"')
    await (await add({ access: 'signed-in' })()).ready()
  })
}

test('what every object inherits declares nothing', async (t) => {
  Reflect.set(Object.prototype, 'config', { access: 'public' })
  t.teardown(() => Reflect.deleteProperty(Object.prototype, 'config'))
  const app = await booted(t, async (scope) => void scope.get('/inherited', ran))
  Reflect.deleteProperty(Object.prototype, 'config')
  t.equal(await statuses(app, '/inherited'), '401/200')
})

type Change = (config: object, ofOpen: object) => object
const changes: Readonly<Record<string, Change>> = {
  'adds an access to': (config) => ({ ...config, access: 'Notes.Edit' }),
  'adds an access in place to': (config) => Object.assign(config, { access: 'Notes.Edit' }),
  'adds a documented permission to': (config) => ({ ...config, checkedByHandler: 'Notes.Edit' }),
  'drops the configuration of': () => ({ access: 'Notes.Edit' }),
  'copies the configuration of another route to': (_config, ofOpen) => ({ ...ofOpen }),
}

for (const [name, change] of Object.entries(changes)) {
  const build = (app: FastifyInstance): void => {
    let ofOpen: object = {}
    app.addHook('onRoute', (route) => {
      if (route.url === '/open') ofOpen = route.config ?? {}
      else route.config = { ...change(route.config ?? {}, ofOpen) }
    })
  }
  const addRoutes = (app: FastifyInstance): void => {
    app.get('/open', { config: { access: 'public' } }, ran)
    app.get('/notes', ran)
  }

  test(`the boot refuses a hook after the gate that ${name} a route`, async (t) => {
    const error = await bootError(t, () =>
      booted(t, async (app) => {
        build(app)
        addRoutes(app)
      }),
    )
    t.equal(error.code, 'FMOD_PUBLIC_ROUTES_CONFIG_CHANGED')
    t.match(error.message, 'GET /notes')
    t.notMatch(error.message, '/open')
  })
}

test('a hook from before the gate may declare the access of routes, one after it may add other members', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.addHook('onRoute', (route) => void (route.config = { ...route.config, access: 'Notes.Edit' }))
  const permissions = { 'Notes.Edit': 'Edit notes' }
  await app.register(publicRoutes, { provider: headerProvider, env: false, permissions })
  app.addHook('onRoute', (route) => void (route.config = { ...route.config, tags: ['notes'] } as object))
  app.get('/notes', ran)
  await app.register(async (scope) => void scope.get('/', { prefixTrailingSlash: 'both' }, ran), {
    prefix: '/p',
  })
  for (const url of ['/notes', '/p', '/p/']) {
    t.equal(await statuses(app, url), '401/403', url)
  }
})

const contributed: readonly (readonly [string, unknown])[] = [
  ['a function', () => {}],
  ['a text', 'Notes.Edit'],
  ['a reserved word', { public: 'Everybody' }],
  ['a name twice', { 'Ops.Read': 'Read' }],
]

for (const [name, permissions] of contributed) {
  test(`a module that contributes ${name} as its permissions stops the boot`, async (t) => {
    const error = await bootError(t, async () => {
      const app = await gatedApp(t, { permissions: { 'Ops.Read': {} } })
      await app.register(modules, { modules: [{ name: 'notes', permissions } as unknown as Module] })
      return app
    })
    t.match(error, { code: 'FMOD_PUBLIC_ROUTES_INVALID_PERMISSION', message: /module "notes"/ })
  })
}

test('the option permissions declares those of no module, each under a usable name', async (t) => {
  const names = ['public', 'signed-in', 'GET', 'post', 'Notes.*', '', 'a b', 'x'.repeat(101)]
  for (const name of names) {
    await t.rejects(
      gatedApp(t, { permissions: { [name]: 'Edit notes' } }),
      { code: 'FMOD_PUBLIC_ROUTES_INVALID_PERMISSION', message: /declared by application/ },
      name,
    )
  }
  const app = await gatedApp(t, { permissions: { 'Notes.Edit': 'Edit notes', 'Notes.Read': {} } })
  app.get('/notes', { config: { access: 'Notes.Read' } }, ran)
  t.equal(await statuses(app, '/notes'), '401/403')
  t.match(app.permissions.list(), [
    { name: 'Notes.Edit', displayName: 'Edit notes', source: 'application' },
    { name: 'Notes.Read', displayName: 'Notes.Read', source: 'application' },
  ])
})
