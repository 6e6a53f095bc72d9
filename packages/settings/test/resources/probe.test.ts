/** Tests of resources with values that are not saved: who may, what is refused, what is answered. */
import { setTimeout as pause } from 'node:timers/promises'
import { defineModule, modules } from '@fastify-modular/core'
import {
  ProbeFailure,
  type SettingsBuilder,
  setting,
  SettingScope,
  settings,
  type ResourceOptions,
} from '@fastify-modular/settings'
import { createSettingsClient } from '@fastify-modular/settings/client'
import Fastify, { type FastifyInstance } from 'fastify'
import { test } from 'tap'
import { until } from '../contract/case.ts'
import {
  admin,
  as,
  callerByHeader,
  type CallerName,
  createApp,
  type Expected,
  expectStatuses,
  logInto,
} from '../support/app.ts'

const { System } = SettingScope
const mail = {
  host: setting.text('smtp.host', { displayName: 'Host', scope: System, default: 'localhost' }),
  port: setting.number('smtp.port', {
    displayName: 'Port',
    scope: System,
    default: 587,
    min: 1,
    max: 65_535,
  }),
  password: setting.password('smtp.password', { displayName: 'Password', scope: System, sensitive: true }),
}

interface Values {
  readonly host: string
  readonly port: number
  readonly password: string | null
}

/** An application whose resource has this test. Callers whom `as` does not know are administrators. */
async function createMail(
  t: { teardown(close: () => unknown): unknown },
  options: ResourceOptions<Values, Values>,
  { lines = [], ...more }: Partial<Parameters<typeof settings>[1]> & { lines?: string[] } = {},
): Promise<FastifyInstance> {
  const app = Fastify({ pluginTimeout: 60_000, ...logInto(lines, 'info') })
  t.teardown(() => app.close())
  await app.register(settings, {
    definitions: [mail],
    findCaller: (request) => {
      const name = request.headers['x-caller']
      return callerByHeader(request) ?? (typeof name === 'string' ? { ...admin, id: name } : null)
    },
    ...more,
  })
  app.settings.resource('mail', mail, options)
  await app.ready()
  return app
}

async function probe(app: FastifyInstance, drafts: object, caller = 'admin') {
  const answer = await app.inject({
    method: 'POST',
    url: '/api/settings/resources/mail/probe',
    headers: { 'x-caller': caller },
    payload: drafts,
  })
  return { status: answer.statusCode, headers: answer.headers, json: answer.json() }
}

const works: ResourceOptions<Values, Values> = { create: (values) => values, probe: () => {} }

test('drafts and what holds are tried together, and nothing is stored', async (t) => {
  const lines: string[] = []
  const tried: Values[] = []
  const disposed: Values[] = []
  const app = await createMail(
    t,
    {
      create: (values) => values,
      dispose: (values) => disposed.push(values),
      probe(values, { signal }) {
        tried.push(values)
        return signal.aborted ? 'aborted' : `Signed in at ${values.host}.`
      },
    },
    { lines },
  )
  await app.settings.set(mail.port, 25)
  const before = { stats: app.settings.stats, revision: app.settings.status.revision }
  const began = performance.now()
  const answer = await probe(app, { 'smtp.host': 'mail.example', 'smtp.password': 'geheim' })
  t.ok(performance.now() - began > 299, 'how fast a host refuses is not told')
  t.strictSame(
    [answer.status, answer.json],
    [200, { ok: true, message: 'Signed in at mail.example.', requestId: null }],
  )
  const values = { host: 'mail.example', port: 25, password: 'geheim' }
  t.strictSame(tried, [values])
  t.strictSame(disposed.at(-1), values)
  t.equal(app.settings.get(mail.host), 'localhost')
  t.equal((await app.settings.history()).entries.length, 1)
  t.strictSame({ stats: app.settings.stats, revision: app.settings.status.revision }, before)
  const audit = lines.map((line) => JSON.parse(line)).find((line) => line.audit === 'settings.probe')
  t.match(audit, { resource: 'mail', caller: 'admin', ok: true })
  t.strictSame(audit.drafts, { 'smtp.host': 'mail.example' })
  t.notMatch(lines.join(''), 'geheim')
})

test('null tries what would hold after clearing', async (t) => {
  const app = await createMail(t, { ...works, probe: ({ host, password }) => `${host} ${password}` })
  await app.settings.set(mail.host, 'mail.example')
  await app.settings.set(mail.password, 'geheim')
  const { json } = await probe(app, { 'smtp.host': null, 'smtp.password': null })
  t.equal(json.message, 'localhost null')
})

test('only the text of a ProbeFailure reaches the caller, without secrets and in 200 characters', async (t) => {
  const lines: string[] = []
  let thrown: unknown
  let where: 'create' | 'probe' = 'create'
  const fail = (place: typeof where): void => {
    if (where === place && thrown) throw thrown
  }
  const app = await createMail(
    t,
    { create: (values) => (fail('create'), values), probe: () => fail('probe') },
    { lines },
  )
  for (where of ['create', 'probe'] as const) {
    const drafts = { 'smtp.host': 'x', 'smtp.password': 's3cr€t' }
    thrown = new ProbeFailure(`No sign-in with s3cr€t. ${'x'.repeat(300)}`)
    const said = await probe(app, drafts, `${where} one`)
    t.equal(said.json.message.length, 200)
    t.match(said.json, { ok: false, message: /^No sign-in with •••\. x/, requestId: null })
    thrown = Object.assign(new Error('connect ECONNREFUSED with s3cr€t'), {
      auth: 's3cr€t',
      code: 'ECONNREFUSED',
    })
    const other = await probe(app, drafts, `${where} two`)
    t.match(other.json, { ok: false, message: 'The test failed.', requestId: String })
    const line = lines
      .map((each) => JSON.parse(each))
      .find(({ reqId, failure }) => failure && reqId === other.json.requestId)
    t.match(line, {
      resource: 'mail',
      failure: { code: 'ECONNREFUSED', message: 'connect ECONNREFUSED with •••' },
    })
  }
  t.notMatch(lines.join(''), 's3cr€t')
})

test('what a test says is cut, too, and has no secret', async (t) => {
  const app = await createMail(t, { ...works, probe: ({ password }) => `${password} ${'y'.repeat(300)}` })
  const { json } = await probe(app, { 'smtp.password': 'geheim' })
  t.match(json.message, /^••• y+…$/)
  t.equal(json.message.length, 200)
})

const refused: readonly Expected[] = [
  [401, 'POST', '/resources/mail/probe', {}, null],
  [403, 'POST', '/resources/mail/probe', {}, 'alice'],
  [403, 'POST', '/resources/none/probe', {}, 'alice'],
  [403, 'POST', '/resources/mail/probe', {}, 'editor'], // System settings are for administrators
  [404, 'POST', '/resources/none/probe', {}],
  [404, 'POST', '/resources/mute/probe', {}],
  [400, 'POST', '/resources/mail/probe', []],
  [400, 'POST', '/resources/mail/probe', { 'smtp.user': 'x' }],
  [400, 'POST', '/resources/mail/probe', '{"__proto__":1}'],
  [400, 'POST', '/resources/mail/probe?dryRun=true', {}],
  [409, 'POST', '/resources/mail/probe', { 'smtp.host': 'x' }],
  [422, 'POST', '/resources/mail/probe', { 'smtp.port': 0 }],
  [422, 'POST', '/resources/mail/probe', { 'smtp.port': 465 }],
  [200, 'POST', '/resources/mail/probe', { 'smtp.port': 587 }],
]

const mailModule = defineModule({
  name: 'mail',
  settings: (builder: SettingsBuilder) =>
    builder.addAll(mail).rule({ port: mail.port, password: mail.password }, ({ port, password }) => {
      return port === 465 && password === null ? 'Port 465 needs a password.' : []
    }),
  plugin: async (app) => {
    app.settings.resource('mail', mail, works)
    app.settings.resource('mute', mail, { create: () => 1 })
  },
})

test('a test is refused as the write of its drafts would be, rules included', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(settings, { findCaller: callerByHeader, overrides: { 'smtp.host': 'fixed.example' } })
  await app.register(modules, { modules: [mailModule] })
  await app.ready()
  await expectStatuses(t, app, refused)
})

test('it needs the permission that any of its settings names', async (t) => {
  const tokens = {
    host: setting.text('a.host', { displayName: 'Host', scope: 1, default: 'x' }),
    secret: setting.text('a.secret', {
      displayName: 'Key',
      scope: 1,
      sensitive: true,
      writePermission: 'Keys.Write',
    }),
  }
  const lines: string[] = []
  const app = Fastify(logInto(lines))
  t.teardown(() => app.close())
  await app.register(settings, { definitions: [tokens], findCaller: callerByHeader })
  app.settings.resource('a', tokens, { create: () => 1, probe: () => {} })
  await app.ready()
  const found = async (caller: 'admin' | 'editor') =>
    (await as(app, caller)('GET', '/definitions')).json.map((each: { probe: unknown }) => each.probe)
  t.strictSame(await found('editor'), [null, null])
  t.strictSame(await found('admin'), ['a', 'a'])
  await expectStatuses(t, app, [[403, 'POST', '/resources/a/probe', {}, 'editor']])
  t.match(
    lines.join(''),
    /writePermission.*a\.host|a\.host.*writePermission/s,
    'the boot says that they differ',
  )
})

test('definitions name the resource that the caller may test', async (t) => {
  const app = await createApp(t)
  const probes = async (caller: CallerName) => {
    const { json } = await as(app, caller)('GET', '/definitions')
    const found: readonly { key: string; probe: string | null }[] = json
    return found.flatMap(({ key, probe: name }) => (name === null ? [] : `${key} ${name}`))
  }
  const both = ['app.support_email support', 'app.api_secret support']
  t.strictSame(await probes('admin'), both)
  t.strictSame(await probes('editor'), both)
  t.strictSame(await probes('alice'), [])
})

test('one a caller, four an instance, ten in ten minutes', async (t) => {
  let end: () => void = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  let running = 0
  const app = await createMail(t, {
    ...works,
    probe: async ({ host }) => {
      if (host !== 'slow') return
      running++
      await ended
    },
  })
  const slow = ['a', 'b', 'c', 'd'].map((caller) => probe(app, { 'smtp.host': 'slow' }, caller))
  await until('four tests', () => running === 4)
  for (const caller of ['a', 'e']) {
    const { status, headers } = await probe(app, {}, caller)
    t.equal(status, 429, caller)
    t.equal(headers['retry-after'], '10')
  }
  end()
  t.strictSame(
    (await Promise.all(slow)).map(({ status }) => status),
    [200, 200, 200, 200],
  )
  for (let count = 1; count <= 10; count++) t.equal((await probe(app, {}, 'often')).status, 200)
  const { status, headers } = await probe(app, {}, 'often')
  t.equal(status, 429)
  t.ok(Number(headers['retry-after']) > 500)
  t.equal((await probe(app, {}, 'other')).status, 200)
})

test('closing aborts a test, and what is made after that is disposed of unseen', async (t) => {
  const disposed: Values[] = []
  let isProbed = false
  let isBegun = false
  const app = await createMail(t, {
    async create(values, { signal }) {
      if (values.host === 'slow') {
        isBegun = true
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      }
      return values
    },
    dispose: (values) => disposed.push(values),
    probe: () => {
      isProbed = true
    },
  })
  const answer = probe(app, { 'smtp.host': 'slow' })
  await until('the test', () => isBegun)
  await pause(1)
  await app.close()
  t.match((await answer).json, { ok: false })
  t.equal(isProbed, false)
  t.match(
    disposed.map(({ host }) => host),
    ['slow', 'localhost'],
  )
})

async function clientOf(app: FastifyInstance) {
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  return createSettingsClient({ baseUrl: `${address}/api/settings`, headers: { 'x-caller': 'admin' } })
}

test('the client tests resources, and says when there were too many', async (t) => {
  const app = await createMail(t, { ...works, probe: ({ host }) => host })
  const client = await clientOf(app)
  const answer = { ok: true, message: 'x', requestId: null }
  for (let count = 1; count <= 10; count++)
    t.strictSame(await client.probe('mail', { 'smtp.host': 'x' }), answer)
  const refusal: unknown = await client.probe('mail', {}).catch((error: unknown) => error)
  t.match(refusal, { status: 429, retryAfter: Number })
})

test('a caller who leaves ends the test, and may begin the next one', async (t) => {
  const running = new Set<string>()
  const app = await createMail(t, {
    ...works,
    async probe({ host }, { signal }) {
      if (host !== 'slow') return
      running.add(host)
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      running.delete(host)
    },
  })
  const client = await clientOf(app)
  const leaving = new AbortController()
  const left = client.probe('mail', { 'smtp.host': 'slow' }, { signal: leaving.signal })
  await until('the test', () => running.size === 1)
  leaving.abort()
  await t.rejects(left)
  await until('its end', () => running.size === 0)
  await until('the next', () =>
    client.probe('mail', {}).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
})
