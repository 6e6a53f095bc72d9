/** What `doctor` says in a created application that has grown a little and is then broken on purpose, in each way there is. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Finding } from '@fastify-modular/core/internal'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { spawnNode } from '@fastify-modular/test-support/spawn-app'
import { type Test, test } from 'tap'
import { create } from './command.js'

const modules = join(import.meta.dirname, '../node_modules')

interface Damage {
  /** What the application does while it is open, in JavaScript. */
  readonly served?: string
  readonly servedWith?: Readonly<Record<string, string>>
  /** What time does to the database meanwhile. */
  readonly statement?: string
  /** What a deployment changes: a file, and two texts. */
  readonly edit?: readonly [file: string, from: string, to: string]
  readonly overrides?: Readonly<Record<string, unknown>>
  readonly env?: Readonly<Record<string, string>>
  readonly says: RegExp
}

const keysOf = (id: string) => ({
  SM_SETTINGS_KEYS: JSON.stringify([{ id, key: Buffer.alloc(32, id).toString('base64') }]),
})

/** What an application has that never served, or no file. */
type Elsewhere = 'missing migration' | 'event without a subscription' | 'memory store'

/** All together, so that no finding hides another one. */
const damages: Readonly<Record<Exclude<Finding['kind'], Elsewhere>, Damage>> = {
  'plain secret': {
    served: `await app.settings.set('notes.plain', 'hunter2')`,
    says: /notes\.plain.*settings reencrypt/,
  },
  'unreadable secret': {
    servedWith: keysOf('k1'),
    served: `await app.settings.set('notes.secret', 'hunter2')`,
    env: keysOf('k2'),
    says: /"notes\.secret" with "k1"/,
  },
  'unknown override': { overrides: { 'notes.showm': 5 }, says: /notes\.showm/ },
  'broken rule': { overrides: { 'notes.least': 10 }, says: /"notes\.least" \(override\).*break a rule/ },
  orphan: {
    served: `await app.settings.set('notes.title', 'Acme')`,
    edit: ['dist/src/notes.js', `'notes.title'`, `'notes.heading'`],
    says: /"notes\.title" has 1 value of the scope application, and no module defines it/,
  },
  'row of another scope': {
    served: `await app.settings.set('notes.footer', 'Acme')`,
    edit: [
      'dist/src/notes.js',
      `'Footer', scope: SettingScope.Application`,
      `'Footer', scope: SettingScope.System`,
    ],
    says: /"notes\.footer" has 1 value of the scope application, which its definition does not have/,
  },
  'overdue window': {
    served: `await app.settings.set('notes.shown', 7, { confirmWithin: 600 })`,
    statement: `update settings_meta set value = 'open 0000000000000001 {}' where name like 'window:%'`,
    says: /had to be kept until 1970/,
  },
  'dead letters': {
    served: `
      await app.events.publish(new NoteAdded({ id: '1', by: 'ada' }))
      while ((await app.events.deadLetters.list()).length === 0) await sleep(50)`,
    says: /ActivityHandler could not handle notes\.added: .*the list is full/,
  },
  'access file out of date': {
    edit: ['access.json', '"POST /api/notes","access":"Notes.Write"', '"POST /api/notes","access":"public"'],
    says: /access\.json: .*POST \/api\/notes/,
  },
  'cannot be served': { env: { TRUST_PROXY: '10.0.0.5' }, says: /development-sign-in\.ts is not for/ },
}

interface Engine {
  /** Where settings and events are kept: the file store.ts of the application. */
  readonly store: string
  readonly env: (t: Test) => Promise<Readonly<Record<string, string>>>
}

const engines: Readonly<Record<'sqlite' | 'postgres', Engine>> = {
  sqlite: {
    store: `
// @ts-ignore: the types of the driver are not installed
import Database from 'better-sqlite3'
import { sqliteOutbox } from '@fastify-modular/core/events/sqlite-outbox'
import { sqlite } from '@fastify-modular/settings/sqlite'
const database = new Database(process.env['DATABASE_FILE'])
export const createStore = (_env: object) => sqlite({ database })
export const transport = sqliteOutbox({ database, maxAttempts: 1 })
export const execute = async (statement: string): Promise<void> => void database.exec(statement)
`,
    env: async () => ({ DATABASE_FILE: 'data/settings.db' }),
  },
  postgres: {
    store: `
// @ts-ignore: the types of the driver are not installed
import pg from 'pg'
import { pgBoss } from '@fastify-modular/core/events/pg-boss'
import { postgres } from '@fastify-modular/settings/postgres'
const connectionString = process.env['DATABASE_URL'] ?? ''
export const createStore = (_env: object) => postgres({ connectionString })
export const transport = pgBoss({ connectionString, maxAttempts: 1 })
export const execute = async (statement: string): Promise<void> => {
  const client = new pg.Client({ connectionString })
  await client.connect()
  await client.query(statement)
  await client.end()
}
`,
    env: async (t) => ({ DATABASE_URL: (await testDatabase(t)).url }),
  },
}

/** Each text once, or the test would break something else. */
function edit(file: string, ...changes: readonly (readonly [from: string, to: string])[]): void {
  const before = readFileSync(file, 'utf8')
  const after = changes.reduce((text, [from, to]) => {
    if (text.split(from).length !== 2) throw new Error(`${file} does not have once: ${from}`)
    return text.replace(from, () => to)
  }, before)
  writeFileSync(file, after)
}

/** Durable events whose handler fails, secrets, a rule: what the README says comes next. */
function grow(folder: string, store: string): void {
  writeFileSync(join(folder, 'src/store.ts'), store)
  edit(
    join(folder, 'src/app.ts'),
    ['await app.register(events)', 'await app.register(events, { transport })'],
    [`import { home }`, `import { transport } from './store.ts'\nimport { home }`],
  )
  const text = (name: string, more: string) =>
    `${name.toLowerCase()}: setting.text('notes.${name.toLowerCase()}', { displayName: '${name}', ${more} }),`
  const count = (name: string, value: number) =>
    `${name}: setting.number('notes.${name}', { displayName: '${name}', scope: SettingScope.System, default: ${value} }),`
  edit(
    join(folder, 'src/notes.ts'),
    [
      'const noteSettings = {',
      `const limits = { ${count('least', 1)} ${count('most', 9)} }
const noteSettings = {
  ${text('Plain', 'scope: SettingScope.System, sensitive: true')}
  ${text('Secret', 'scope: SettingScope.System, sensitive: true')}
  ${text('Title', 'scope: SettingScope.Application')}
  ${text('Footer', 'scope: SettingScope.Application')}`,
    ],
    [
      'settings: noteSettings,',
      `settings: (builder) => builder.addAll(noteSettings).addAll(limits)
        .rule(limits, ({ least, most }) => (least <= most ? undefined : 'Least is more than most.')),`,
    ],
    ['this.#activity.unshift', `if (id) throw new Error('the list is full')\n    this.#activity.unshift`],
  )
}

/** Compiled once: the applications differ in the file that says where settings and events are kept. */
async function createGrown(parent: string, t: Test): Promise<string> {
  const folder = join(parent, 'grown')
  t.equal((await create([folder, '--no-install'])).code, 0)
  grow(folder, engines.sqlite.store)
  writeFileSync(join(folder, 'src/store-postgres.ts'), engines.postgres.store)
  const { status, stdout } = spawnSync(process.execPath, [join(modules, 'typescript/bin/tsc')], {
    cwd: folder,
    encoding: 'utf8',
  })
  t.equal(status, 0, stdout)
  return folder
}

test('a created application is examined from before its first start to the end', async (t) => {
  const parent = mkdtempSync(join(import.meta.dirname, 'doctor-'))
  t.teardown(() => rmSync(parent, { recursive: true, force: true }))
  const grown = await createGrown(parent, t)
  for (const [database, { env: environment }] of Object.entries(engines))
    await t.test(database, async (t) => {
      const folder = join(parent, database)
      cpSync(grown, folder, { recursive: true })
      if (database === 'postgres')
        cpSync(join(folder, 'dist/src/store-postgres.js'), join(folder, 'dist/src/store.js'))
      mkdirSync(join(folder, 'data'))
      const env = { NODE_ENV: '', HOST: '', TRUST_PROXY: '', LOG_LEVEL: 'error', ...(await environment(t)) }

      /** Runs a Node program in the folder, and returns what it prints; standard error, where there is more, is in between. */
      const run = async (args: readonly string[], variables = {}) => {
        const [entry = '', ...rest] = args
        const program = spawnNode(entry, { args: rest, cwd: folder, env: { ...env, ...variables } })
        const { code } = await program.exited
        return { code, log: program.log() }
      }
      const command = (line: string, variables = {}) =>
        run([join(modules, '@fastify-modular/cli/dist/main.js'), ...line.split(' ')], variables)
      const examine = async (variables = {}) => {
        const { code, log } = await command('doctor --json', variables)
        const [json = '{}'] = /^\{\n[^]*^\}$/m.exec(log) ?? []
        const { findings = [] }: { findings?: { kind: string; text: string }[] } = JSON.parse(json)
        t.equal(code, findings.length > 0 ? 3 : 0, log)
        return findings
      }
      const kindsOf = (found: readonly { kind: string }[]) => found.map(({ kind }) => kind).toSorted()
      const runScript = async (script: string, variables = {}) => {
        const { code, log } = await run(['--input-type=module', '-e', script], variables)
        t.equal(code, 0, log)
      }
      /** What the application does in a process that does not listen. */
      const serve = (steps: readonly string[], variables = {}) =>
        runScript(
          `import { setTimeout as sleep } from 'node:timers/promises'
        import { build } from './dist/src/build.js'
        import { NoteAdded } from './dist/src/notes.js'
        const app = await build()
        await app.ready()
        ${steps.join('\n')}
        await app.close()`,
          variables,
        )

      t.same(kindsOf(await examine()), ['missing migration', 'missing migration'])
      t.match(await command('migrate'), { code: 0 })
      t.match(await examine(), [{ kind: 'event without a subscription', text: /ActivityHandler/ }])
      await serve([])
      t.same(await examine(), [], 'nothing wrong once it has served')

      const all = Object.values(damages)
      const together = (variables: (damage: Damage) => object | undefined) =>
        Object.assign({}, ...all.map(variables))
      await serve(all.flatMap((each) => (each.servedWith ? [] : (each.served ?? []))))
      for (const { served = '', servedWith } of all) if (servedWith) await serve([served], servedWith)
      for (const { statement } of all)
        if (statement)
          await runScript(`import { execute } from './dist/src/store.js'
          await execute(${JSON.stringify(statement)})`)
      for (const { edit: change } of all) if (change) edit(join(folder, change[0]), [change[1], change[2]])
      const overrides = together((each) => each.overrides)
      const found = await examine({
        ...together((each) => each.env),
        SM_SETTINGS_OVERRIDES: JSON.stringify(overrides),
      })
      t.same(kindsOf(found), Object.keys(damages).toSorted())
      for (const [kind, { says }] of Object.entries(damages))
        t.match(
          found.find((each) => each.kind === kind),
          { text: says },
        )
    })
})
