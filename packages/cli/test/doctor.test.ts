/** What `doctor` looks for, each broken on purpose, on both engines. */
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Finding } from '@fastify-modular/core/internal'
import { type SettingDefinition, SettingScope } from '@fastify-modular/settings'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { until } from '@fastify-modular/test-support/until'
import Database from 'better-sqlite3'
import type { FastifyInstance } from 'fastify'
import pg from 'pg'
import { type Test, test } from 'tap'
import { createShop, definitions, Ordered, type Place } from './fixtures/shop.ts'
import { kindsOf, under } from './under.ts'

type Given = Omit<Place, 'database'>

interface Case {
  /** What the deployment does before, served. */
  readonly served?: (app: FastifyInstance) => Promise<unknown>
  readonly servedWith?: Given
  /** A statement that is run then. */
  readonly statement?: string
  /** What is there in place of a deployment that has served. @default served */
  readonly state?: 'no tables' | 'tables alone'
  /** How doctor opens it. */
  readonly opened?: Given
  /** What the finding says. */
  readonly says: RegExp
  /** How often it is found. @default 1 */
  readonly times?: number
}

const keysOf = (...ids: readonly string[]) => ({
  encryption: { keys: ids.map((id) => ({ id, key: Buffer.alloc(32, id).toString('base64') })) },
})
const set =
  (key: string, value: unknown, options = {}) =>
  (app: FastifyInstance) =>
    app.settings.set(key as never, value as never, options)
const without = (key: string): readonly SettingDefinition[] => definitions.filter((each) => each.key !== key)
const titleOf = (scope: SettingScope): readonly SettingDefinition[] =>
  definitions.map((each) => (each.key === 'shop.title' ? { ...each, scope } : each))

const cases: Readonly<Record<Exclude<Finding['kind'], 'cannot be served' | 'memory store'>, Case>> = {
  'missing migration': { state: 'no tables', says: /tables/, times: 2 },
  'plain secret': {
    served: set('shop.secret', 'hunter2'),
    opened: { settings: keysOf('k1') },
    says: /shop\.secret.*settings reencrypt/,
  },
  'unreadable secret': {
    servedWith: { settings: keysOf('k1') },
    served: set('shop.secret', 'hunter2'),
    opened: { settings: keysOf('k2') },
    says: /"shop\.secret" with "k1"/,
  },
  'unknown override': { opened: { settings: { overrides: { 'shop.titel': 'x' } } }, says: /shop\.titel/ },
  'broken rule': {
    opened: { settings: { overrides: { 'shop.least': 10 } } },
    says: /"shop\.least" \(override\), "shop\.most" \(default\) break a rule of the module "shop"/,
  },
  orphan: {
    served: set('shop.title', 'Acme'),
    opened: { definitions: without('shop.title') },
    says: /"shop\.title" has 1 value of the scope application, and no module defines it/,
  },
  'row of another scope': {
    served: set('shop.title', 'Acme'),
    opened: { definitions: titleOf(SettingScope.System) },
    says: /"shop\.title" has 1 value of the scope application, which its definition does not have/,
  },
  'overdue window': {
    served: set('shop.limit', 7, { confirmWithin: 600 }),
    statement: `update settings_meta set value = 'open 0000000000000001 {}' where name like 'window:%'`,
    says: /Revision 1 had to be kept until 1970/,
  },
  'dead letters': {
    served: async (app) => {
      await app.events.publish(new Ordered({}))
      await until(async () => ((await app.events.deadLetters?.list()) ?? []).length > 0)
    },
    says: /shop\.ShipHandler could not handle shop\.ordered: .*no parcel/,
  },
  'event without a subscription': { state: 'tables alone', says: /shop\.ShipHandler/ },
  'access file out of date': {
    served: async (app) => {
      await app.access.compare(pathToFileURL('access.json'), { update: true })
      const text = await readFile('access.json', 'utf8')
      await writeFile(
        'access.json',
        text.replace('/orders","access":"signed-in"', '/orders","access":"public"'),
      )
    },
    says: /access\.json: .*GET \/orders/,
  },
}

const engines: Readonly<Record<string, (t: Test) => Promise<string>>> = {
  SQLite: async () => 'shop.db',
  PostgreSQL: async (t) => (await testDatabase(t)).url,
}

/** Each in a folder of its own, which has the database and the access file. */
async function enterFolder(t: Test): Promise<void> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'cli-doctor-')))
  process.chdir(folder)
  t.teardown(async () => {
    process.chdir(tmpdir())
    await rm(folder, { recursive: true, force: true })
  })
}

/** Brings a database into the state of a case. */
async function prepare(database: string, { state, served, servedWith, statement }: Case): Promise<void> {
  if (state === 'no tables') return
  if (state === 'tables alone') return void (await under(() => createShop({ database }), 'migrate'))
  const app = await createShop({ database, ...servedWith })
  await app.ready()
  await served?.(app)
  await app.close()
  if (statement !== undefined) await runStatement(database, statement)
}

async function runStatement(database: string, statement: string): Promise<void> {
  if (!database.startsWith('postgres')) {
    const file = new Database(database)
    file.exec(statement)
    return void file.close()
  }
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  await client.query(statement)
  await client.end()
}

for (const [engine, makeDatabase] of Object.entries(engines)) {
  test(`${engine}: doctor names what is broken, and nothing else`, async (t) => {
    for (const [kind, each] of Object.entries(cases)) {
      await t.test(kind, async (t) => {
        await enterFolder(t)
        const database = await makeDatabase(t)
        await prepare(database, each)
        const report = await under(() => createShop({ database, ...each.opened }), 'doctor')
        t.equal(report.exit, 3)
        t.same(
          kindsOf(report),
          Array.from({ length: each.times ?? 1 }, () => kind),
        )
        t.match(report.rows?.[0], { text: each.says })
      })
    }
  })

  test(`${engine}: one finding does not hide another one`, async (t) => {
    await enterFolder(t)
    const database = await makeDatabase(t)
    const together = ['plain secret', 'row of another scope', 'dead letters', 'overdue window'] as const
    for (const kind of together) await prepare(database, cases[kind])
    const settings = { ...keysOf('k1'), overrides: { 'shop.titel': 'x', 'shop.least': 10 } }
    const opened = { settings, definitions: titleOf(SettingScope.System) }
    const report = await under(() => createShop({ database, ...opened }), 'doctor')
    const found = new Set(kindsOf(report))
    t.same(found, new Set([...together, 'unknown override', 'broken rule']))
  })
}

test('a deployment that has served has nothing wrong', async (t) => {
  await enterFolder(t)
  await prepare('shop.db', {
    says: /-/,
    served: (app) => app.access.compare(pathToFileURL('access.json'), { update: true }),
  })
  const report = await under(() => createShop({ database: 'shop.db' }), 'doctor')
  t.same(report.lines, ['nothing wrong'])
})
