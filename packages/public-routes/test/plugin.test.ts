import { defineModule, modules } from '@fastify-modular/core'
import defaultExport, { publicRoutes } from '@fastify-modular/public-routes'
import Fastify, { type FastifyInstance } from 'fastify'
import { test } from 'tap'
import { gatedApp, headerProvider } from './support/application.ts'

/** Registers as JavaScript would, where no type forbids anything. */
const register = (app: FastifyInstance, options: object) => app.register(publicRoutes, options as never)

test('the plugin is the default export as well', async (t) => {
  t.equal(defaultExport, publicRoutes)
})

const withLogin = (loginUrl: string) => ({ provider: { ...headerProvider, loginUrl } })

/** Options beside a provider that can be used, by the code that refuses them. */
const refused: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  FMOD_CORE_INVALID_OPTION: {
    'no provider': { provider: undefined },
    'a provider that cannot authenticate': { provider: {} },
    'a provider that is null': { provider: null },
    'a login URL without a slash': withLogin('login'),
    'a login URL that leaves the site unseen': withLogin('//evil.example'),
    'a login URL that is a script': withLogin('javascript:alert(1)'),
    'a login URL with a line break': withLogin('/login\r\nx: y'),
    'a misspelt csrf': { csfr: true },
    'a misspelt exempt': { csrf: { exempted: [] } },
    'a time-out of zero': { timeout: 0 },
    'a time-out without end': { timeout: Infinity },
    'a classify that is not a function': { classify: 'api' },
    'permissions that are not an object': { permissions: 'Notes.Edit' },
    'guests that are not a boolean': { guests: 'yes' },
  },
  FMOD_PUBLIC_ROUTES_INVALID_RULE: {
    'a legacy path that would open everything': { provider: { ...headerProvider, publicPaths: ['/'] } },
  },
}

for (const [code, each] of Object.entries(refused)) {
  for (const [name, options] of Object.entries(each)) {
    test(`decision 33: ${name} is refused with ${code}`, async (t) => {
      const app = Fastify()
      t.teardown(() => app.close().catch(() => {}))
      const registered = register(app, { env: false, provider: headerProvider, ...options })
      await t.rejects(Promise.resolve(registered), { code })
    })
  }
}

test('all options that cannot be used are named at once, a misspelt one with the nearest name', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close().catch(() => {}))
  const provider = { ...headerProvider, loginUrl: 'login' }
  const options = {
    provider,
    timeout: 0,
    csrf: { exempted: [], trustedOrigins: 'x' },
    defualts: false,
  }
  const names = ['csrf.trustedOrigins', 'csrf.exempted', 'timeout', 'defualts', 'provider.loginUrl']
  await t.rejects(Promise.resolve(register(app, options)), {
    code: 'FMOD_CORE_INVALID_OPTION',
    message: new RegExp(`^${names.map((name) => `.*${name}`).join('')}`),
  })
})

test('registering twice is refused', async (t) => {
  const app = await gatedApp(t)
  await t.rejects(Promise.resolve(register(app, { provider: headerProvider })), {
    code: 'FMOD_CORE_REGISTERED_TWICE',
  })
})

test('a module that contributes public routes before the plugin is there gets a boot error of core', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close().catch(() => {}))
  const module = defineModule({ name: 'notes', publicRoutes: () => {} })
  await t.rejects(Promise.resolve(app.register(modules, { modules: [module] })), {
    code: 'FMOD_CORE_CONTRIBUTION_WITHOUT_PLUGIN',
  })
})

test('a bad rule of a module stops the boot', async (t) => {
  const app = await gatedApp(t)
  const module = defineModule({ name: 'notes', publicRoutes: (registry) => registry.addPrefix('') })
  await t.rejects(Promise.resolve(app.register(modules, { modules: [module] })), {
    code: 'FMOD_PUBLIC_ROUTES_INVALID_RULE',
  })
})

test('the options and the provider are used as they are, and not changed', async (t) => {
  const options = Object.freeze({
    provider: Object.freeze({ ...headerProvider, publicPaths: Object.freeze(['/a']) }),
    env: Object.freeze({}),
  })
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(publicRoutes, options)
  app.get('/x', async () => 'ran')
  t.equal((await app.inject({ url: '/x', headers: { 'x-user': 'alice' } })).statusCode, 200)
})

test('a provider written as a class keeps its this', async (t) => {
  class Sessions {
    readonly users = new Map([['abc', 'alice']])
    authenticate({ headers }: { headers: Record<string, unknown> }) {
      const id = this.users.get(String(headers['x-session']))
      return id === undefined ? null : { id }
    }
  }
  const app = await gatedApp(t, { provider: new Sessions() })
  app.get('/x', async ({ caller }) => caller?.id)
  t.equal((await app.inject({ url: '/x', headers: { 'x-session': 'abc' } })).body, 'alice')
})
