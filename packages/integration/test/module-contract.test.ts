/** The contract of modules, run over one that keeps it and over those that break one rule each. */
import { defineModule, type Module } from '@fastify-modular/core'
import { moduleContract, type ModuleFixture } from '@fastify-modular/core/testing'
import { errors } from '@fastify-modular/errors'
import { publicRoutes } from '@fastify-modular/public-routes'
import { setting, settings, SettingScope } from '@fastify-modular/settings'
import Fastify, { type FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { test } from 'tap'

const currency = (key: string) =>
  setting.text(key, { displayName: 'Currency', scope: SettingScope.Application, default: 'EUR' })

/** Keeps every rule; `changes` break some. */
function billing(changes: Partial<Module> = {}): Module {
  const token = currency('billing.currency')
  return defineModule({
    name: 'billing',
    dependsOn: ['customers'],
    optionalDependsOn: ['audit'],
    settings: { token },
    plugin: async (app) => {
      app.get('/billing', { config: { access: 'signed-in' } }, () => app.settings.get(token))
      app.get('/billing/prices', { config: { access: 'public' } }, () => [])
    },
    ...changes,
  })
}

const customers = defineModule({
  name: 'customers',
  plugin: fp(async (app) => void app.decorate('customers', ['Ada']), { name: 'customers' }),
})
const audit = defineModule({
  name: 'audit',
  plugin: fp(async (app) => void app.decorate('audit', []), { name: 'audit' }),
})

async function application(): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(errors)
  await app.register(publicRoutes, { provider: { authenticate: () => null } })
  await app.register(settings)
  return app
}

/** The message of each rule that fails, by the rule. */
async function broken(fixture: ModuleFixture): Promise<Record<string, string>> {
  const rules: [string, () => Promise<void>][] = []
  moduleContract((name, run) => rules.push([name, run]), fixture)
  const messages: Record<string, string> = {}
  for (const [name, run] of rules) {
    try {
      await run()
    } catch (error) {
      messages[name] = error instanceof Error ? error.message : String(error)
    }
  }
  return messages
}

function fixtureOf(changes: Partial<Module> = {}): ModuleFixture {
  return { create: () => billing(changes), others: () => [audit, customers], application }
}

const alone = 'it boots with nothing but what it depends on, and closes'
const neighbours = 'it leaves its neighbours as they are, listed before them or after them'
const access = 'each of its routes says who may call it'
const keys = 'the keys of its settings begin with its name'
const left = 'nothing of it is left when the application has closed'
const again = 'it boots again as it did the first time'

test('a module that keeps the contract passes every rule', async (t) => {
  t.same(await broken(fixtureOf()), {})
})

/** A module with one hook and no routes. */
const hooked = (name: 'onReady' | 'onClose', hook: (app: FastifyInstance) => unknown): Partial<Module> => ({
  plugin: async (app) => void app.addHook(name, async () => void (await hook(app))),
})

const timers: NodeJS.Timeout[] = []
const listener = (): void => {}
let boots = 0

/** Changes of the module, and the rules that they break, with what their messages say. */
const breaches: Record<string, readonly [Partial<Module>, Record<string, RegExp>]> = {
  'needs a module that it calls optional': [
    hooked('onReady', (app) => Reflect.get(app, 'audit').length),
    { [alone]: /undefined/ },
  ],
  'uses a module that it does not depend on': [
    { dependsOn: [], plugin: async (app) => void Reflect.get(app, 'customers').length },
    { [alone]: /undefined/, [neighbours]: /undefined/ },
  ],
  'reads bodies for the whole application': [
    {
      plugin: fp(async (app: FastifyInstance) => {
        app.addContentTypeParser('text/x-contract', (_request, _payload, done) => done(null, 'read'))
      }),
    },
    { [neighbours]: /415/ },
  ],
  'has a route of which it says nothing': [
    { plugin: async (app) => void app.get('/billing/all', () => []) },
    { [access]: /GET \/billing\/all/ },
  ],
  'has a key of another name': [
    { settings: { currency: currency('mail.currency') }, plugin: async () => {} },
    { [keys]: /mail\.currency/ },
  ],
  'leaves a timer': [
    hooked('onReady', () => timers.push(setInterval(() => {}, 1000))),
    { [left]: /Timeout/ },
  ],
  'listens to the process': [hooked('onReady', () => process.on('SIGUSR2', listener)), { [left]: /SIGUSR2/ }],
  'fails to close': [
    hooked('onClose', () => {
      throw new Error('the queue is not empty')
    }),
    {
      [alone]: /queue/,
      [neighbours]: /queue/,
      [access]: /queue/,
      [keys]: /queue/,
      [left]: /queue/,
      [again]: /queue/,
    },
  ],
  'remembers earlier applications': [
    {
      plugin: async (app) =>
        void app.get(`/billing/${boots++}`, { config: { access: 'signed-in' } }, () => []),
    },
    { [again]: /GET \/billing/ },
  ],
}

for (const [name, [changes, expected]] of Object.entries(breaches)) {
  test(`a module that ${name} breaks the contract`, async (t) => {
    t.teardown(() => {
      for (const timer of timers.splice(0)) clearInterval(timer)
      process.removeAllListeners('SIGUSR2')
    })
    const messages = await broken(fixtureOf(changes))
    t.same(Object.keys(messages), Object.keys(expected), 'exactly these rules fail')
    for (const [rule, message] of Object.entries(expected)) t.match(messages[rule], message, rule)
  })
}

test('a module that never closes breaks the contract, and does not hold it up for ever', async (t) => {
  let finish = (): void => {}
  const closing = new Promise<void>((resolve) => (finish = resolve))
  t.teardown(() => finish())
  const rules = new Map<string, () => Promise<void>>()
  moduleContract((name, run) => rules.set(name, run), fixtureOf(hooked('onClose', () => closing)))
  await t.rejects(async () => rules.get(alone)?.(), /the application does not close/)
})

test('an application without a gate cannot show who may call the routes', async (t) => {
  const messages = await broken({
    create: () => ({ name: 'bare', plugin: async (app) => void app.get('/bare', () => 'open') }),
    application: () => Fastify(),
  })
  t.same(Object.keys(messages), [access])
  t.match(messages[access], /no gate/)
  t.same(
    await broken({ create: () => ({ name: 'quiet' }), application: () => Fastify() }),
    {},
    'a module without routes needs none',
  )
})
