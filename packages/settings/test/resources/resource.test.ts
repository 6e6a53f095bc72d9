/** Resources that follow settings: when they are made, which one serves, when it is disposed of. */
import { setTimeout as pause } from 'node:timers/promises'
import { settings, type ResourceOptions } from '@fastify-modular/settings'
import { fakeSettings, overrideSettings } from '@fastify-modular/settings/testing'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { test } from 'tap'
import { until } from '../contract/case.ts'
import { definitions, logInto, rejection } from '../support/app.ts'
import { engines } from '../support/engines.ts'

const { port, password, title, theme } = definitions
const mail = { port, password }

interface Values {
  readonly port: number
  readonly password: string | null
}

/** A resource that says what happens to it. */
class Client {
  readonly values: Values
  isDisposed = false

  constructor(values: Values) {
    this.values = values
  }
}

/** Makes clients, and remembers them. */
function recorder() {
  const made: Client[] = []
  const options: ResourceOptions<Values, Client> = {
    create(values) {
      const client = new Client(values)
      made.push(client)
      return client
    },
    dispose(client) {
      client.isDisposed = true
    },
  }
  return { made, options }
}

/** An application that is not ready yet, with a resource of mail settings. */
async function createApp(
  t: { teardown(close: () => unknown): unknown },
  options: ResourceOptions<Values, Client>,
  { store, ...server }: FastifyServerOptions & { store?: Parameters<typeof settings>[1]['store'] } = {},
) {
  const app = Fastify({ pluginTimeout: 60_000, ...server })
  t.teardown(() => app.close())
  await app.register(settings, { definitions: [definitions], ...(store && { store }) })
  return { app, resource: app.settings.resource('mail', mail, options) }
}

async function boot(app: FastifyInstance): Promise<void> {
  await app.ready()
}

test('a resource is made of its settings before the application is ready', async (t) => {
  const { made, options } = recorder()
  const { app, resource } = await createApp(t, options)
  t.strictSame(resource.status, { state: 'missing', failure: null })
  await app.ready()
  t.strictSame(
    made.map(({ values }) => values),
    [{ port: 587, password: null }],
  )
  t.equal(await resource.use(({ values }) => values.port), 587)
  t.strictSame(resource.status, { state: 'ready', failure: null })
})

test('one write makes it once, however many of its settings have changed; others do not', async (t) => {
  const { made, options } = recorder()
  const { app, resource } = await createApp(t, options)
  await app.ready()
  await app.settings.setMany([
    { key: port.key, scope: 0, value: 25 },
    { key: password.key, scope: 0, value: 'geheim' },
  ])
  await app.settings.set(title, 'Other')
  await app.settings.set(port, 25)
  await until('the new one', () => resource.status.state === 'ready')
  t.strictSame(
    made.map(({ values }) => values),
    [
      { port: 587, password: null },
      { port: 25, password: 'geheim' },
    ],
  )
})

test('the new one serves before the old one is disposed of, which waits for its last use', async (t) => {
  const { made, options } = recorder()
  const { app, resource } = await createApp(t, options)
  await app.ready()
  let end: () => void = () => {}
  const used = resource.use(async (client) => {
    await new Promise<void>((resolve) => {
      end = resolve
    })
    return client.isDisposed
  })
  await app.settings.set(port, 25)
  await until('the new one', async () => (await resource.use(({ values }) => values.port)) === 25)
  t.equal(made[0]?.isDisposed, false, 'somebody uses it')
  end()
  t.equal(await used, false)
  await until('disposal', () => made[0]?.isDisposed === true)
  t.equal(made[1]?.isDisposed, false)
})

test('a newer write aborts the running create, and only the newest values count', async (t) => {
  const made: Client[] = []
  const disposed: number[] = []
  let running = 0
  let most = 0
  let release: () => void = () => {}
  let isAborted = false
  const { app, resource } = await createApp(t, {
    async create(values, { signal }) {
      running++
      most = Math.max(most, running)
      signal.addEventListener('abort', () => (isAborted = true), { once: true })
      // The second one brings a client although it is aborted.
      if (values.port === 1)
        await new Promise<void>((resolve) => {
          release = resolve
        })
      running--
      const client = new Client(values)
      made.push(client)
      return client
    },
    dispose: ({ values }) => disposed.push(values.port),
  })
  await app.ready()
  for (const value of [1, 2, 3]) await app.settings.set(port, value)
  t.equal(isAborted, true)
  release()
  await until('the newest', async () => (await resource.use(({ values }) => values.port)) === 3)
  await until('disposal', () => disposed.length === 2)
  t.equal(most, 1, 'one at a time')
  t.strictSame(
    made.map(({ values }) => values.port),
    [587, 1, 3],
    'nobody wanted 2 any more',
  )
  t.strictSame(new Set(disposed), new Set([1, 587]))
})

test('one that cannot be made keeps the old one, and is tried again', async (t) => {
  const lines: string[] = []
  let isDown = false
  let calls = 0
  const { app, resource } = await createApp(
    t,
    {
      create(values) {
        calls++
        if (isDown) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
        return new Client(values)
      },
    },
    logInto(lines, 'info'),
  )
  await app.ready()
  isDown = true
  await app.settings.set(port, 25)
  await until('the failure', () => resource.status.failure !== null)
  const failure = { name: 'Error', code: 'ECONNREFUSED', message: 'connect ECONNREFUSED' }
  t.strictSame(resource.status, { state: 'outdated', failure })
  t.equal(await resource.use(({ values }) => values.port), 587, 'the old one serves on')
  isDown = false
  await until('another try', () => resource.status.state === 'ready')
  t.equal(calls, 3)
  t.equal(await resource.use(({ values }) => values.port), 25)
  t.match(lines.join(''), /resource could not be made.*resource is there again/s)
})

test('without any it is 503, and the boot fails only where it is required', async (t) => {
  const create = (): Client => {
    throw new Error('no route to host')
  }
  const { app, resource } = await createApp(t, { create })
  await app.ready()
  t.equal((await rejection(resource.use(() => 1))).status, 503)
  t.match(resource.status, { state: 'missing', failure: { message: 'no route to host' } })

  const required = await createApp(t, { create, required: true })
  t.match(await rejection(boot(required.app)), {
    error: { code: 'FMOD_SETTINGS_RESOURCE_MISSING', message: /"mail".*no route to host/ },
  })
})

test('a create that takes too long is aborted, and what it brings later is disposed of', async (t) => {
  let bring: (client: Client) => void = () => {}
  let reason: unknown
  const late = new Client({ port: 1, password: null })
  const { app, resource } = await createApp(t, {
    create: (_values, { signal }) => {
      signal.addEventListener('abort', () => (reason = signal.reason), { once: true })
      return new Promise<Client>((resolve) => {
        bring = resolve
      })
    },
    dispose(client) {
      client.isDisposed = true
    },
    timeout: 20,
  })
  await app.ready()
  t.match(resource.status, { state: 'missing', failure: { message: 'It took longer than 20 ms.' } })
  t.match(reason, { message: 'It took longer than 20 ms.' })
  bring(late)
  await until('disposal', () => late.isDisposed)
})

test('the first create has half of the time that Fastify gives to a plugin', async (t) => {
  const { app, resource } = await createApp(
    t,
    { create: () => new Promise<Client>(() => {}) },
    { pluginTimeout: 1000 },
  )
  await app.ready()
  t.match(resource.status.failure, { message: 'It took longer than 500 ms.' })
})

test('closing waits for uses, disposes, and aborts what is being made', async (t) => {
  const { made, options } = recorder()
  const { app, resource } = await createApp(t, options)
  await app.ready()
  const used = resource.use(async (client) => {
    await pause(50)
    return client.isDisposed
  })
  await app.close()
  t.equal(await used, false)
  t.equal(made[0]?.isDisposed, true)
  t.equal((await rejection(resource.use(() => 1))).status, 503)

  let isAborted = false
  const other = await createApp(t, {
    create: ({ port: value, password: secret }, { signal }) =>
      value === 587
        ? new Client({ port: value, password: secret })
        : new Promise<Client>((_, reject) => {
            signal.addEventListener('abort', () => {
              isAborted = true
              reject(new Error('aborted'))
            })
          }),
  })
  await other.app.ready()
  await other.app.settings.set(port, 25)
  await until('the call', () => other.resource.status.state === 'outdated')
  await other.app.close()
  t.equal(isAborted, true)
})

test('a disposal that fails is logged, and hinders nothing', async (t) => {
  const lines: string[] = []
  const { app, resource } = await createApp(
    t,
    {
      create: (values) => new Client(values),
      dispose: () => Promise.reject(new Error('already closed')),
    },
    logInto(lines),
  )
  await app.ready()
  await app.settings.set(port, 25)
  await until('the new one', () => resource.status.state === 'ready')
  await until('the log', () => lines.join('').includes('already closed'))
  t.match(lines.join(''), 'resource could not be disposed of')
})

test('values of a test, and what other instances write, make it anew', async (t) => {
  const open = await engines.SQLite(t)
  const here = recorder()
  const [first, second] = [
    await createApp(t, here.options, { store: open() }),
    await createApp(t, recorder().options, { store: open() }),
  ]
  await Promise.all([first.app.ready(), second.app.ready()])
  await second.app.settings.set(port, 25)
  await until('the other instance', () => here.made.at(-1)?.values.port === 25)
  const restore = overrideSettings(first.app, { [port.key]: 26 })
  await until('the value of a test', () => here.made.at(-1)?.values.port === 26)
  restore[Symbol.dispose]()
  await until('the stored value', () => here.made.at(-1)?.values.port === 25)
  t.equal(here.made.length, 4)
})

test('settings without an application have resources, too', async (t) => {
  const fake = fakeSettings(mail, { 'mail.port': 25 })
  const resource = fake.resource('mail', mail, { create: (values) => new Client(values) })
  t.strictSame(await resource.use(({ values }) => values), { port: 25, password: null })
})

const faults: Readonly<Record<string, readonly [message: RegExp, add: (app: FastifyInstance) => void]>> = {
  'a name that is taken': [
    /another one/,
    (app) => void app.settings.resource('mail', mail, recorder().options),
  ],
  'a name with a slash': [
    /name it with/,
    (app) => void app.settings.resource('a/b', mail, recorder().options),
  ],
  'no settings': [/name the settings/, (app) => void app.settings.resource('none', {}, { create: () => 1 })],
  'a User setting': [
    /"app.theme" may differ/,
    (app) => void app.settings.resource('looks', { theme }, { create: () => 1 }),
  ],
  'an unknown setting': [
    /no module defines "mail.prt"; did you mean "mail.port"/,
    (app) => void app.settings.resource('other', { port: { ...port, key: 'mail.prt' } }, { create: () => 1 }),
  ],
}

for (const [name, [message, add]] of Object.entries(faults))
  test(`${name} stops the boot`, async (t) => {
    const { app } = await createApp(t, recorder().options)
    const addAndBoot = async (): Promise<void> => {
      add(app)
      await boot(app)
    }
    t.match(await rejection(addAndBoot()), { error: { code: 'FMOD_SETTINGS_INVALID_RESOURCE', message } })
  })

test('an application that is ready takes no more resources', async (t) => {
  const { app } = await createApp(t, recorder().options)
  await app.ready()
  t.throws(() => app.settings.resource('late', mail, recorder().options), {
    code: 'FMOD_SETTINGS_INVALID_RESOURCE',
    message: /ready/,
  })
})

const secret = 'S3cr€t/p&ss w+rd'

for (const failing of ['create', 'dispose'] as const)
  test(`a secret that an error of ${failing} carries reaches neither the log nor the status`, async (t) => {
    const lines: string[] = []
    const quotes = [secret, encodeURIComponent(secret), Buffer.from(`user:${secret}`).toString('base64')]
    const broken = (values: Values): Error => {
      const text = values.password === null ? '' : quotes.join(' ')
      const error = new Error(`no sign-in with ${text}`, { cause: new Error(text) })
      return Object.assign(error, { config: { auth: { pass: text } }, cmd: text })
    }
    const { app, resource } = await createApp(
      t,
      {
        create(values) {
          if (failing === 'create' && values.password !== null) throw broken(values)
          return new Client(values)
        },
        dispose(client) {
          if (failing === 'dispose') throw broken(client.values)
        },
      },
      logInto(lines, 'trace'),
    )
    await app.ready()
    await app.settings.set(password, secret)
    await app.settings.set(port, 25)
    await until('the failure', () => lines.join('').includes('no sign-in with •••'))
    const seen = lines.join('') + JSON.stringify(resource.status)
    for (const quote of [...quotes, JSON.stringify(secret).slice(1, -1), 'S3cr'])
      t.notOk(seen.includes(quote), quote)
  })
