/** The page of features: twenty rows, each with a picture or a few lines of code, which run as they stand. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { type Test, test } from 'tap'

const documents = new URL('../../../docs/', import.meta.url)
const page = readFileSync(new URL('features.md', documents), 'utf8')

/** Inside of this package, so that its packages are found, and where nothing looks for tests. */
const data = fileURLToPath(new URL('../data/', import.meta.url))
mkdirSync(data, { recursive: true })
const folder = mkdtempSync(join(data, 'features-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

interface Row {
  readonly name: string
  readonly text: string
  /** Empty where the row has a picture, or words alone. */
  readonly code: string
}

const rows: readonly Row[] = page
  .split(/^### /m)
  .slice(1)
  .map((part) => {
    const [name = '', ...lines] = part.split(/\n## /)[0]?.trimEnd().split('\n') ?? []
    const text = lines.join('\n')
    return { name, text, code: /^```js\n([^]*?)^```$/m.exec(text)?.[1] ?? '' }
  })

/** What a reader has imported, and what the lines name without declaring it. */
const before = `
import Database from 'better-sqlite3'
import Fastify from 'fastify'
import { defineEvent, defineModule, defineProblem, events, modules, sqliteTx } from '@fastify-modular/core'
import { sqliteOutbox } from '@fastify-modular/core/events/sqlite-outbox'
import { errors } from '@fastify-modular/errors'
import { inertia } from '@fastify-modular/inertia'
import { publicRoutes } from '@fastify-modular/public-routes'
import { expectAccess } from '@fastify-modular/public-routes/testing'
import { setting, settings, SettingScope } from '@fastify-modular/settings'
import { ofrep } from '@fastify-modular/settings/openfeature'

export const app = Fastify()
export const greeting = setting.text('app.greeting', { displayName: 'Greeting', scope: SettingScope.Application, default: 'Hello' })
const folder = new URL('./', import.meta.url)
const keys = [{ id: 'test', key: crypto.getRandomValues(new Uint8Array(32)) }]
const membershipOf = () => null // your function of the request and its caller
const findCaller = () => ({ id: 'ada', isAdmin: true })
`
const withGreeting = `await app.register(settings, { definitions: [{ greeting }], findCaller })\nawait app.ready()\n`

interface Proof {
  /** Lines between the imports and those of the page. */
  readonly setup?: string
  /** Lines after those of the page. */
  readonly after?: string
  check(t: Test, app: FastifyInstance, module: Readonly<Record<string, unknown>>): Promise<unknown>
}

const statusOf = async (app: FastifyInstance, method: 'GET' | 'PUT', url: string): Promise<number> =>
  (await app.inject({ method, url })).statusCode

const proofs: Readonly<Record<string, Proof>> = {
  'Typed, and read from memory': {
    after: 'export const value = app.settings.get(port)',
    check: async (t, _app, { value }) => t.equal(value, 587),
  },
  'From the environment, or from people': {
    setup: "process.env.SMTP_HOST = 'smtp.example.org'",
    after:
      "delete process.env.SMTP_HOST\nawait app.ready()\nexport const value = app.settings.get(host)\nexport const refused = await app.settings.set(host, 'x').catch(({ statusCode }) => statusCode)",
    check: async (t, _app, { value, refused }) => t.same([value, refused], ['smtp.example.org', 409]),
  },
  'A history, and an undo': {
    setup: withGreeting,
    after: 'export const value = app.settings.get(greeting)\nexport { entries }',
    check: async (t, _app, { value, entries }) => {
      t.equal(value, 'Hello')
      t.match(entries, [{ actor: 'ada', note: 'winter', newValue: 'Good morning' }])
    },
  },
  'Secrets stay secret': {
    after:
      "export const record = await app.settings.record('mail.token')\nexport const history = await app.settings.history({ key: 'mail.token' })\nexport const value = app.settings.get(token)",
    check: async (t, _app, { record, history, value }) => {
      t.equal(value, 'hunter2', 'code reads it')
      t.notMatch(JSON.stringify([record, history]), /hunter2/)
    },
  },
  'Tested before, put back after': {
    setup: withGreeting,
    after: 'export const value = app.settings.get(greeting)\nexport { entries }',
    check: async (t, app, { value, entries }) => {
      t.equal(value, 'Hi')
      t.match(entries, [{ newValue: 'Hi' }])
      t.match(
        (await app.inject('/api/settings/changes?state=open')).json(),
        { changes: [] },
        'none is open any more',
      )
    },
  },
  'Values of organisations': {
    after:
      "await app.ready()\nexport const values = [(await app.settings.forTenant('acme')).get(brand), (await app.settings.forTenant('globex')).get(brand)]",
    check: async (t, _app, { values }) => t.same(values, ['Acme', 'My product']),
  },
  'Feature flags': {
    setup: "await app.register(publicRoutes, { provider: { authenticate: () => ({ id: 'ada' }) } })",
    check: async (t, app) => {
      const url = '/ofrep/v1/evaluate/flags/shop.pay'
      t.match((await app.inject({ method: 'POST', url, payload: {} })).json(), {
        key: 'shop.pay',
        value: false,
      })
    },
  },
  'Closed until it says otherwise': {
    after: "app.get('/undeclared', async () => 'secret')",
    check: async (t, app) => {
      t.equal(await statusOf(app, 'GET', '/status'), 200)
      t.equal(await statusOf(app, 'PUT', '/notes/1'), 401)
      t.equal(await statusOf(app, 'GET', '/undeclared'), 401)
      t.equal(await statusOf(app, 'GET', '/nothing'), 401)
    },
  },
  'One file that says it, one test that tries it': {
    setup: `process.env.UPDATE_SNAPSHOTS = '1'; const { CI } = process.env; delete process.env.CI
await app.register(publicRoutes, { provider: { authenticate: () => null } })
app.get('/status', { config: { access: 'public' } }, async () => 'ok')
await app.ready()`,
    after: 'delete process.env.UPDATE_SNAPSHOTS; if (CI !== undefined) process.env.CI = CI',
    check: async (t) => t.match(readFileSync(join(folder, 'access.json'), 'utf8'), /\/status/),
  },
  'One format for every error': {
    check: async (t, app) => {
      const answer = await app.inject('/order')
      t.equal(answer.statusCode, 402)
      t.match(answer.json(), { code: 'OUT_OF_CREDIT', title: 'Out of credit', detail: 'Your balance is 20.' })
    },
  },
  'Events that are not lost': {
    setup: `class OrderPlaced extends defineEvent('orders.placed', { type: 'object', properties: { order: { type: 'string' } } }) {}
const database = new Database(':memory:')
let done
export const handled = new Promise((resolve) => (done = resolve))
class MailHandler { static event = OrderPlaced; handle = ({ order }) => done(order) }
app.addHook('onClose', () => database.close())
await app.register(events, { transport: sqliteOutbox({ database }), handlers: [MailHandler] })
await app.ready()`,
    check: async (t, _app, { handled }) => t.equal(await handled, 'o1'),
  },
  'Modules that bring all of it along': {
    setup:
      'await app.register(publicRoutes, { provider: { authenticate: () => null } })\nawait app.register(settings)',
    after: 'await app.register(modules, { modules: [hello] })',
    check: async (t, app) => t.equal((await app.inject('/hello')).body, 'Hello'),
  },
  'Pages without an API of their own': {
    check: async (t, app) => {
      t.match((await app.inject('/notes')).body, /"component":"Notes","props":\{"notes":\["Shopping"\]/)
    },
  },
}

test('twenty rows, each with a picture of 300 pixels or at most three lines of code, and a link', async (t) => {
  t.equal(rows.length, 20)
  for (const { name, text, code } of rows) {
    t.match(text, /\]\([^)]+\)/, `${name} leads on`)
    const picture = /<img src="\.\/([^"]+)" width="300" alt="[^"]+">/.exec(text)?.[1]
    if (picture) t.ok(existsSync(new URL(picture, documents)), picture)
    const lines = /^```\w+\n([^]*?)^```$/m.exec(text)?.[1]?.trimEnd().split('\n') ?? []
    t.ok(lines.length <= 3, `${name} is short`)
    t.equal(lines.length > 0, picture === undefined && name !== 'What it does not do', name)
    t.equal(code !== '', name in proofs, `${name} is proved`)
  }
})

test('the commands of the page are those whose output the guide shows', async (t) => {
  const [, commands = ''] = /^```sh\n([^]*?)^```$/m.exec(page) ?? []
  const guide = readFileSync(new URL('guides/command-line.md', documents), 'utf8')
  for (const command of commands.trimEnd().split('\n')) t.match(guide, `$ ${command}\n`)
})

for (const [at, { name, code }] of rows.entries()) {
  const proof = proofs[name]
  if (!proof || code === '') continue
  test(`${name}: the lines do what the row says`, async (t) => {
    const file = join(folder, `row-${at}.mjs`)
    writeFileSync(file, [before, proof.setup ?? '', code, proof.after ?? ''].join('\n'))
    const module: Readonly<Record<string, unknown>> = await import(pathToFileURL(file).href)
    const app = module['app'] as FastifyInstance
    t.teardown(() => app.close())
    await proof.check(t, app, module)
  })
}
