import { EventEmitter } from 'node:events'
import Fastify, { type FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { test, type Test } from 'tap'
import {
  defineEvent,
  defineModule,
  events,
  type Module,
  modules,
  receiveContributions,
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
  receiveContributions(app, 'menu', {
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
  if (receives) receiveContributions(app, 'menu', { take: () => {} })
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
  receiveContributions(app, 'menu', { take: () => {} })
  t.throws(() => receiveContributions(app, 'menu', { take: () => {} }), {
    code: 'FMOD_CORE_DUPLICATE_RECEIVER',
    message: /"menu"/,
  })
})

test('a receiver that is registered after modules is a boot error: it would get nothing', async (t) => {
  const app = appOf(t)
  await app.register(modules, { modules: [] })
  const late = async (scope: FastifyInstance) => receiveContributions(scope, 'menu', { take: () => {} })
  for (const plugin of [late, fp(late)])
    await t.rejects(async () => app.register(plugin), {
      code: 'FMOD_CORE_RECEIVER_REGISTERED_LATE',
      message: /"menu".*before modules/,
    })
})

test('registering modules twice is a boot error, also in scopes below one receiver', async (t) => {
  const refused = { code: 'FMOD_CORE_REGISTERED_TWICE' }
  const app = appOf(t)
  await app.register(modules, { modules: [] })
  const scope = async (inner: FastifyInstance) => inner.register(modules, { modules: [] })
  await t.rejects(async () => app.register(modules, { modules: [] }), refused)
  await t.rejects(async () => app.register(scope), refused)
  const gated = appOf(t)
  receiveContributions(gated, 'menu', { take: () => {} })
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
  receiveContributions(one, 'menu', { take: (_, module) => void seen.push(`one:${module}`) })
  receiveContributions(two, 'menu', { take: (_, module) => void seen.push(`two:${module}`) })
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
  await app.register(modules, { modules: [notes] })
  t.same((await app.inject('/api/notes')).json(), ['note'])
  t.notOk(app.hasDecorator('ownDecorator'))
})

const wrapped = (plugin: NonNullable<Module['plugin']> = async () => {}) =>
  fp(async (app, options) => plugin(app, options, () => {}))
const unscoped: readonly (readonly [object, string])[] = [
  [{ prefix: '/billing', plugin: wrapped() }, 'it has prefix'],
  [{ access: 'public', plugin: wrapped() }, 'it has access'],
  ...['onRequest', 'preHandler', 'onSend', 'onResponse', 'onError', 'onRoute', 'onReady'].map(
    (hook) =>
      [
        { plugin: wrapped(async (app) => void app.addHook(hook as 'onReady', async () => {})) },
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

/** A module that writes to `log` when its hooks run, with its name and what `app` it has. */
function noting(log: string[], name: string, dependsOn: readonly string[] = [], hooks: Hooks = {}): Module {
  return defineModule({
    name,
    dependsOn,
    plugin: async (scope) => {
      scope.decorate('owner', name)
      for (const hook of ['onReady', 'onClose'] as const)
        scope.addHook(hook, async () => {
          log.push(`${hook} ${name} of ${String(Reflect.get(scope, 'owner'))}`)
          await hooks[hook]?.()
        })
    },
  })
}

interface Hooks {
  readonly onReady?: () => unknown
  readonly onClose?: () => unknown
}

const fail = () => {
  throw new Error('stuck')
}

test('hooks of modules run in dependency order and close in reverse, after those that the root adds later', async (t) => {
  const app = Fastify()
  const log: string[] = []
  app.addHook('onReady', async () => void log.push('onReady before'))
  app.addHook('onClose', async () => void log.push('onClose before'))
  const list = [noting(log, 'c', ['b']), noting(log, 'b', ['a']), noting(log, 'a')]
  await app.register(modules, { modules: list })
  app.addHook('onReady', async () => void log.push('onReady after'))
  app.addHook('onClose', async () => void log.push('onClose after'))
  await app.ready()
  t.same(log.splice(0), [
    'onReady before',
    'onReady after',
    'onReady a of a',
    'onReady b of b',
    'onReady c of c',
  ])
  await app.close()
  t.same(log, ['onClose after', 'onClose c of c', 'onClose b of b', 'onClose a of a', 'onClose before'])
})

test('an onReady of a module that fails stops the boot, and the modules after it', async (t) => {
  const app = appOf(t)
  const log: string[] = []
  const list = [noting(log, 'a'), noting(log, 'b', ['a'], { onReady: fail }), noting(log, 'c')]
  await app.register(modules, { modules: list })
  await t.rejects(async () => app.ready(), /stuck/)
  t.same(log, ['onReady a of a', 'onReady b of b'])
})

test('an onClose of a module that fails does not stop the others, and close rejects', async (t) => {
  const app = Fastify()
  const log: string[] = []
  const list = [noting(log, 'a'), noting(log, 'b', [], { onClose: fail }), noting(log, 'c')]
  await app.register(modules, { modules: list })
  await app.ready()
  log.length = 0
  await t.rejects(app.close(), /stuck/)
  t.same(log, ['onClose c of c', 'onClose b of b', 'onClose a of a'])
})

test('a module body that fails stops the boot with its own error', async (t) => {
  const plugin = async () => {
    throw new Error('no table notes')
  }
  await refused(t, [{ name: 'broken', plugin }], { message: 'no table notes' })
})
