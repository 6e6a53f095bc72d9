import { EventEmitter } from 'node:events'
import Fastify, { type FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { test, type Test } from 'tap'
import modulesPlugin, {
  defineEvent,
  defineModule,
  events,
  type Module,
  type ModulePlugin,
  modules,
  receive,
} from '@fastify-modular/core'

declare module '@fastify-modular/core' {
  interface ModuleContributions {
    menu: (items: string[]) => void
  }
}

function appOf(t: Test): FastifyInstance {
  const app = Fastify()
  t.teardown(() => app.close())
  return app
}

test('S 5.5: contributions are delivered in dependency order, before any module body', async (t) => {
  const app = appOf(t)
  const log: string[] = []
  receive(app, 'menu', {
    take: (hook, module) => {
      const items: string[] = []
      hook(items)
      log.push(`${module}:${items.join('+')}`)
    },
    complete: () => void log.push('complete'),
  })
  const module = (name: string, ...dependsOn: string[]) =>
    defineModule({
      name,
      dependsOn,
      menu: (items) => void items.push(name),
      plugin: async () => void log.push(`body ${name}`),
    })
  await app.register(modules, { modules: [module('b', 'a'), module('a'), module('c')] })
  t.same(log, ['a:a', 'b:b', 'c:c', 'complete', 'body a', 'body b', 'body c'])
  t.same(
    app.modules.map(({ name }) => name),
    ['a', 'b', 'c'],
  )
})

interface Refusal {
  readonly code?: string
  readonly message: RegExp | string
}

/** An application refuses these modules; it may have a receiver of `menu`. */
async function refused(t: Test, list: readonly object[], error: Refusal, receives = false): Promise<void> {
  const app = appOf(t)
  if (receives) receive(app, 'menu', { take: () => {} })
  await t.rejects(async () => app.register(modules, { modules: list as Module[] }), error)
}

test('a hook without a receiver is a boot error that names every module and hook', async (t) => {
  await refused(
    t,
    [
      { name: 'shop', menu: () => {} },
      { name: 'odd', menuu: () => {} },
    ],
    {
      code: 'FMOD_CORE_CONTRIBUTION_WITHOUT_PLUGIN',
      message: /"shop" contributes "menu", module "odd" contributes "menuu"/,
    },
  )
})

test('a misspelt member of a module is a boot error that suggests the right one, if any is near', async (t) => {
  const meant = {
    menuu: 'menu',
    MENU: 'menu',
    handler: 'handlers',
    onready: 'onReady',
    dependson: 'dependsOn',
    breadcrumbs: undefined,
  }
  for (const [misspelt, name] of Object.entries(meant)) {
    const suggestion = name === undefined ? '\\.' : ` \\(did you mean "${name}"\\?\\)`
    const message = new RegExp(`module "odd" contributes "${misspelt}"${suggestion}`)
    const error = { code: 'FMOD_CORE_CONTRIBUTION_WITHOUT_PLUGIN', message }
    await refused(t, [{ name: 'odd', [misspelt]: () => {} }], error, true)
  }
})

test('ignoreContributions lets a host do without a plugin', async (t) => {
  const app = appOf(t)
  const menu = () => t.fail('an ignored hook must not run')
  await app.register(modules, {
    modules: [defineModule({ name: 'shop', menu })],
    ignoreContributions: ['menu'],
  })
  await app.ready()
  t.equal(app.modules.length, 1)
})

test('a second receiver of a hook is a boot error', async (t) => {
  const app = appOf(t)
  receive(app, 'menu', { take: () => {} })
  t.throws(() => receive(app, 'menu', { take: () => {} }), {
    code: 'FMOD_CORE_DUPLICATE_RECEIVER',
    message: /"menu"/,
  })
})

test('a receiver that is registered after modules is a boot error: it would get nothing', async (t) => {
  const app = appOf(t)
  await app.register(modules, { modules: [] })
  const late = async (scope: FastifyInstance) => receive(scope, 'menu', { take: () => {} })
  for (const plugin of [late, fp(late)])
    await t.rejects(async () => app.register(plugin), {
      code: 'FMOD_CORE_RECEIVER_REGISTERED_LATE',
      message: /"menu".*before modules/,
    })
})

test('registering modules twice is a boot error, also in scopes below one receiver', async (t) => {
  const refused = { code: 'FMOD_CORE_MODULES_REGISTERED_TWICE' }
  const app = appOf(t)
  await app.register(modules, { modules: [] })
  const scope = async (inner: FastifyInstance) => inner.register(modules, { modules: [] })
  await t.rejects(async () => app.register(modules, { modules: [] }), refused)
  await t.rejects(async () => app.register(scope), refused)
  const gated = appOf(t)
  receive(gated, 'menu', { take: () => {} })
  await gated.register(scope)
  await t.rejects(async () => gated.register(scope), refused)
})

test('two scopes with modules each share nothing where no plugin above receives', async (t) => {
  const app = appOf(t)
  for (const name of ['a', 'b'])
    await app.register(async (scope) => {
      await scope.register(modules, { modules: [defineModule({ name })] })
      t.same(
        scope.modules.map((module) => module.name),
        [name],
      )
    })
  await app.ready()
})

for (const name of ['events', 'modules']) {
  test(`FMOD_CORE_DECORATOR_TAKEN: the application's own ${name} is not taken for ours`, async (t) => {
    class NoteHandler {
      static event = defineEvent('notes.taken', { type: 'object' })
      handle() {}
    }
    const list = [defineModule({ name: 'notes', handlers: [NoteHandler] })]
    const refused = { code: 'FMOD_CORE_DECORATOR_TAKEN', message: new RegExp(`decorator ${name} of`) }
    const foreign = new EventEmitter()
    for (const place of ['before', 'in a scope below']) {
      const app = appOf(t)
      if (place !== 'before') await app.register(events)
      const register = async (scope: FastifyInstance) => {
        scope.decorate(name, foreign)
        if (place === 'before' && name === 'events')
          await t.rejects(async () => scope.register(events), refused)
        await scope.register(modules, { modules: list })
      }
      await t.rejects(
        async () => (place === 'before' ? register(app) : app.register(register)),
        refused,
        place,
      )
      await app.close()
    }
    const app = appOf(t)
    await app.register(modules, { modules: list })
    t.throws(() => app.decorate(name, foreign), { code: 'FST_ERR_DEC_ALREADY_PRESENT', message: name })
    await app.register(async (scope) => void scope.decorate(name, foreign)) // its own scope's, as Fastify has it
    await app.ready()
    await app.close()
  })
}

test('two applications in one process do not meet', async (t) => {
  const one = appOf(t)
  const two = appOf(t)
  const seen: string[] = []
  receive(one, 'menu', { take: (_, module) => void seen.push(`one:${module}`) })
  receive(two, 'menu', { take: (_, module) => void seen.push(`two:${module}`) })
  await one.register(modules, { modules: [defineModule({ name: 'a', menu: () => {} })] })
  await two.register(modules, { modules: [defineModule({ name: 'b', menu: () => {} })] })
  t.same(seen, ['one:a', 'two:b'])
})

test('a module is mounted encapsulated, under its prefix', async (t) => {
  const app = appOf(t)
  const notes = defineModule({
    name: 'notes',
    prefix: '/api/notes',
    plugin: async (scope) => {
      scope.decorate('ownDecorator', 1)
      scope.get('/', async () => ['note'])
    },
  })
  await app.register(modulesPlugin, { modules: [notes] })
  t.same((await app.inject('/api/notes')).json(), ['note'])
  t.notOk(app.hasDecorator('ownDecorator'))
})

const wrapped = (plugin: ModulePlugin = async () => {}) =>
  fp(async (app, options) => plugin(app, options, () => {}))
const unscoped: readonly (readonly [object, string])[] = [
  [{ prefix: '/billing', plugin: wrapped() }, 'it has prefix'],
  [{ access: 'public', plugin: wrapped() }, 'it has access'],
  ...(['onRequest', 'preHandler', 'onSend', 'onResponse', 'onError'] as const).map(
    (hook) =>
      [
        { plugin: wrapped(async (app) => void app.addHook(hook, async () => {})) },
        `the hook ${hook}`,
      ] as const,
  ),
]

test('decision 90: a module whose plugin breaks out of its scope stops the boot, with what it has besides', async (t) => {
  for (const [members, message] of unscoped)
    await refused(t, [{ name: 'billing', ...members }], {
      code: 'FMOD_CORE_INVALID_MODULE',
      message: new RegExp(`"billing".*${message}.*fastify-plugin`),
    })
})

test('decision 90: a wrapped plugin may decorate, close with the application and have hooks in scopes of its own', async (t) => {
  const app = appOf(t)
  const log: string[] = []
  const database = defineModule({
    name: 'database',
    plugin: wrapped(async (scope) => {
      scope.decorate('database', log)
      scope.addHook('onClose', async () => void log.push('closed'))
      await scope.register(async (inner) => {
        inner.addHook('onRequest', async () => void log.push('inner'))
        inner.get('/inner', async () => 'inner')
      })
    }),
  })
  const next = defineModule({
    name: 'next',
    plugin: async (scope) => {
      scope.addHook('onRequest', async () => void log.push('next'))
      scope.get('/next', async () => 'next')
    },
  })
  await app.register(modules, { modules: [database, next] })
  app.addHook('onRequest', async () => void log.push('root'))
  for (const url of ['/inner', '/next']) t.equal((await app.inject(url)).statusCode, 200)
  await app.close()
  t.same(log, ['inner', 'root', 'next', 'root', 'closed'])
})

test('onReady runs in dependency order, and a failure stops the boot', async (t) => {
  const app = appOf(t)
  const log: string[] = []
  const a = defineModule({ name: 'a', onReady: async () => void log.push('a') })
  const b = defineModule({
    name: 'b',
    dependsOn: ['a'],
    onReady: () => {
      log.push('b')
      throw new Error('b is not ready')
    },
  })
  await app.register(modules, { modules: [b, a] })
  await t.rejects(async () => app.ready(), /b is not ready/)
  t.same(log, ['a', 'b'])
})

test('decision 49: close hooks run in reverse order, and one that fails does not stop the others', async (t) => {
  const lines: string[] = []
  const app = Fastify({
    logger: { level: 'error', stream: { write: (line: string) => void lines.push(line) } },
  })
  const log: string[] = []
  const module = (name: string, fail = false) =>
    defineModule({
      name,
      onClose: async () => {
        log.push(name)
        if (fail) throw Object.freeze(new Error('stuck')) // a logger cannot take it as it is
      },
    })
  await app.register(modules, { modules: [module('a'), module('b', true), module('c')] })
  await app.close()
  t.same(log, ['c', 'b', 'a'])
  t.match(lines.join(''), /"module":"b".*module failed to close/)
})

test('a module body that fails stops the boot with its own error', async (t) => {
  const plugin = async () => {
    throw new Error('no table notes')
  }
  await refused(t, [{ name: 'broken', plugin }], { message: 'no table notes' })
})
