/** The command as a process: exit codes, output, questions, and its end in the middle of a write. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync, watch } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import Database from 'better-sqlite3'
import pg from 'pg'
import { type Test, test } from 'tap'
import type { Invocation } from '#src/command.js'
import { createShop } from './fixtures/shop.ts'
import { fixture, main, place } from './place.ts'
import { under } from './under.ts'

/** The command and the application that it has opened, unless they have ended. */
function killGroup({ pid, exitCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null) process.kill(-pid, 'SIGKILL')
}

/** Ends both while they write: as soon as the journal of the database has changed so many times. */
function killAtWrite(
  t: Test,
  child: ChildProcess,
  { database, writes }: { readonly database: string; readonly writes: number },
): void {
  const journal = `${database}-wal`
  let seen = 0
  const watcher = watch(dirname(database), (_event, name) => {
    if (name === basename(journal) && (statSync(journal, { throwIfNoEntry: false })?.size ?? 0) > 0) seen++
    if (seen >= writes) killGroup(child)
  })
  child.once('close', () => watcher.close())
  t.teardown(() => watcher.close())
}

/** All rows of all tables, as text; of PostgreSQL with the transaction that wrote each, and where its counters stand. */
function dump(database: string): Promise<string> {
  return database.startsWith('postgres') ? dumpPostgres(database) : dumpSqlite(database)
}

async function dumpSqlite(file: string): Promise<string> {
  const database = new Database(file, { readonly: true })
  const tables = database
    .prepare("select name from sqlite_schema where type = 'table' order by name")
    .pluck()
    .all()
  const rows = tables.map((name) => [name, database.prepare(`select * from "${String(name)}"`).all()])
  database.close()
  return JSON.stringify(rows)
}

async function dumpPostgres(connectionString: string): Promise<string> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const isOurs = "schemaname not in ('pg_catalog', 'information_schema')"
  const { rows: tables } = await client.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where ${isOurs} order by 1`,
  )
  const dumped: unknown[] = [(await client.query(`select * from pg_sequences where ${isOurs}`)).rows]
  for (const { name } of tables) {
    const { rows } = await client.query(`select xmin, ctid, t::text from ${name} t order by 3, 2`)
    dumped.push(name, rows)
  }
  await client.end()
  return JSON.stringify(dumped)
}

test('commands have exit codes, JSON on standard output, and the application prints beside it', async (t) => {
  const { command } = await place(t)
  const set = await command('settings set shop.limit 25')
  t.match(set, { code: 0, stdout: 'shop.limit is set.\n' })
  const get = await command('settings get shop.limit --json', { env: { NOISE: 'yes' } })
  t.equal(get.code, 0)
  t.match(JSON.parse(get.stdout), { key: 'shop.limit', value: 25, updatedBy: /^cli:/ })
  t.match(get.stderr, 'printed by the application')
  const usage = await command('settings set')
  t.equal(usage.code, 2)
  t.match(await command('settings set shop.limit 1000'), { code: 1, stdout: '', stderr: /shop\.limit/ })
  const secret = await command('settings set shop.secret --stdin', { stdin: 'hunter2\n' })
  t.match(secret, { code: 0 })
  t.notMatch(secret.stdout + secret.stderr, 'hunter2')
  t.match(await command('settings list', { env: { NOISE: 'exit' } }), { code: 1, stderr: /exit code 7/ })
})

test('in production, what removes or replaces asks, or needs --yes', async (t) => {
  const { command } = await place(t)
  const env = { NODE_ENV: 'production' }
  await command('settings set shop.limit 25', { env })
  t.match(await command('settings unset shop.limit', { env }), { code: 1, stderr: /--yes/ })
  t.match(JSON.parse((await command('settings get shop.limit --json', { env })).stdout), { value: 25 })
  t.match(await command('settings unset shop.limit --yes', { env }), { code: 0 })
  t.match(JSON.parse((await command('settings get shop.limit --json', { env })).stdout), { value: 10 })
})

/** Answers to the question, as keys of a terminal. */
const answers: Readonly<Record<string, { readonly keys: string; readonly code: number }>> = {
  yes: { keys: 'yes\r', code: 0 },
  no: { keys: 'no\r', code: 1 },
  'Ctrl-D': { keys: '\u0004', code: 1 },
  'Ctrl-C': { keys: '\u0003', code: 1 },
}

test(
  'at a terminal, the question is answered by yes alone',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const { database, folder } = await place(t)
    const shop = () => createShop({ database })
    for (const [name, { keys, code }] of Object.entries(answers)) {
      await under(shop, 'settings set', ['shop.limit', '25'])
      const line = [process.execPath, main, 'settings unset shop.limit --config', fixture('served.mjs')].join(
        ' ',
      )
      // Of util-linux: runs it at a pseudo-terminal, and ends as it does.
      const terminal = spawn('script', ['-qec', line, '/dev/null'], {
        cwd: folder,
        env: { ...process.env, DATABASE: database, NODE_ENV: 'production' },
      })
      let printed = ''
      terminal.stdout.on('data', (chunk) => {
        const wasAsked = printed.includes('(yes/no)')
        printed += String(chunk)
        if (!wasAsked && printed.includes('(yes/no)')) terminal.stdin.write(keys)
      })
      t.same(await once(terminal, 'close'), [code, null], `${name}: ${printed}`)
      t.match(printed, code === 0 ? 'shop.limit is no longer set.' : 'Nothing was done.', name)
      const { data } = await under(shop, 'settings get', ['shop.limit'])
      t.match(data, { value: code === 0 ? 10 : 25 }, name)
    }
  },
)

test('doctor names the onReady hooks of the application and of its packages, and none of ours', async (t) => {
  const { command, folder } = await place(t)
  const guest = join(folder, 'node_modules/guest')
  await mkdir(guest, { recursive: true })
  await writeFile(join(guest, 'package.json'), '{"name":"guest","type":"module","main":"plugin.js"}')
  await writeFile(
    join(guest, 'plugin.js'),
    `export default async (app) => app.addHook('onReady', async () => {})`,
  )
  const config = join(folder, 'hooks.mjs')
  await writeFile(
    config,
    `import guest from 'guest'
    import build from '${pathToFileURL(fixture('served.mjs')).href}'
    export default async () => {
      const app = await build()
      app.addHook('onClose', async () => {})
      app.addHook('onReady', async () => {})
      return app.register(guest)
    }`,
  )
  const hooks = ['guest', 'hooks.mjs:6']
  const { code, stdout } = await command('doctor', { config })
  t.equal(code, 0)
  t.equal(stdout, `nothing wrong\n${hooks.map((place) => `ran: an onReady hook of ${place}\n`).join('')}`)
})

const reading: readonly (readonly [
  name: string,
  args?: readonly string[],
  options?: Invocation['options'],
])[] = [
  ['doctor'],
  ['migrate', [], { plan: true }],
  ['access'],
  ['settings list'],
  ['settings list', [], { user: 'ada' }],
  ['settings get', ['shop.title']],
  ['settings history'],
  ['settings export'],
  ['settings orphans'],
  ['settings import', ['export.json'], { dryRun: true }],
  ['settings revert', ['1'], { dryRun: true }],
  ['events dead-letters list'],
]

const engines: Readonly<Record<string, (t: Test) => Promise<string | undefined>>> = {
  SQLite: async () => undefined,
  PostgreSQL: async (t) => (await testDatabase(t)).url,
}

for (const [engine, makeDatabase] of Object.entries(engines))
  test(`${engine}: commands that read change no byte of the database`, async (t) => {
    const { database, folder } = await place(t, await makeDatabase(t))
    const shop = () => createShop({ database })
    await under(shop, 'settings set', ['shop.title', 'Acme'])
    const file = join(folder, 'export.json')
    await writeFile(file, '{"settings":[{"key":"shop.title","scope":1,"value":"Other"}]}')
    const before = await dump(database)
    t.match(before, /Acme/)
    for (const [name, args = [], options = {}] of reading) {
      const { exit = 0, lines } = await under(
        shop,
        name,
        args.map((arg) => (arg === 'export.json' ? file : arg)),
        { options },
      )
      t.equal(exit, options['dryRun'] ? 3 : 0, `${name} ${String(lines)}`)
    }
    t.equal(await dump(database), before)
  })

test('a command that is killed leaves each row old or new, and finishes when it runs again', async (t) => {
  const { command, database, folder } = await place(t)
  const keys = [{ id: 'k1', key: Buffer.alloc(32, 'killed').toString('base64') }]
  const env = { KEYS: JSON.stringify(keys) }
  const app = await createShop({ database })
  await app.ready()
  const users = Array.from({ length: 300 }, (_, at) => `u${at}`)
  for (const userId of users) await app.settings.set('shop.theme' as never, 'dark' as never, { userId })
  await app.settings.set('shop.secret' as never, 'hunter2' as never)
  await app.close()
  const next = join(folder, 'renamed.json')
  await writeFile(next, JSON.stringify({ key: 'shop.look', displayName: 'Look', scope: 2, type: 0 }))
  const exported = join(folder, 'export.json')
  await writeFile(
    exported,
    JSON.stringify({
      settings: [
        { key: 'shop.title', scope: 1, value: 'Acme' },
        { key: 'shop.limit', scope: 0, value: 7 },
      ],
    }),
  )
  const lines = [
    ['settings reencrypt', env],
    ['settings copy shop.theme shop.look', { RENAMED: next }],
    [`settings import ${exported}`, {}],
    ['settings erase-user u1', {}],
  ] as const
  for (const [line, variables] of lines) {
    for (const writes of [1, 3]) {
      const run = await command(line, {
        env: variables,
        onStart: (child) => killAtWrite(t, child, { database, writes }),
      })
      t.ok(run.code === null || run.code === 0, `${line}, write ${writes}: ${run.code} ${run.stderr}`)
    }
    const whole = await command(line, { env: variables })
    t.equal(whole.code, 0, `${line} finishes: ${whole.stderr}`)
  }
  const text = await dump(database)
  t.notMatch(text, 'hunter2')
  t.equal(
    text.match(/"shop\.look"/g)?.length,
    2 * users.length - 2,
    'each once, with one entry; u1 is erased',
  )
  const again = await createShop({ database, settings: { encryption: { keys } } })
  t.teardown(() => again.close())
  await again.ready()
  t.equal(again.settings.get('shop.title' as never), 'Acme')
  t.equal(again.settings.get('shop.limit' as never), 7)
})
