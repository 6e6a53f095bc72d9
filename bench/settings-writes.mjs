// P6, P13, P16: the list, writes against the raw prepared loop with the same durability, and how soon another instance knows.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setting, settings, SettingScope } from '@fastify-modular/settings'
import { postgres } from '@fastify-modular/settings/postgres'
import { sqlite } from '@fastify-modular/settings/sqlite'
import { createDatabase, startPostgres } from '@fastify-modular/test-support/postgres'
import Database from 'better-sqlite3'
import Fastify from 'fastify'
import pg from 'pg'
import { measure, percentile, report } from './support/measure.mjs'

const { Application } = SettingScope
const tokens = Array.from({ length: 500 }, (_, index) =>
  setting.text(`app.key${index}`, { displayName: 'Setting', scope: Application, default: 'default', group: `Group ${index % 10}` }),
)
const caller = () => ({ id: 'bench', permissions: [], isAdmin: true })
const folder = mkdtempSync(join(tmpdir(), 'bench-settings-'))
let count = 0
const next = () => `value ${count++}`

async function appWith(store, definitions = tokens) {
  const app = Fastify()
  app.get('/plain', async () => app.settings.getSettingValues())
  await app.register(settings, { definitions, caller, ...(store && { store }) })
  await app.ready()
  return app
}

await list()
await sqliteWrites()
await postgresWrites()
rmSync(folder, { recursive: true })

async function list() {
  const app = await appWith(undefined, tokens.slice(0, 50))
  const get = (url, headers) => async () => {
    for (let index = 0; index < 500; index++) await app.inject({ url, headers })
    return 500
  }
  const { etag } = (await app.inject('/api/settings')).headers
  const ns = await measure({
    'serialised for each request': get('/plain'),
    'list, unchanged store': get('/api/settings'),
    'list, 304': get('/api/settings', { 'if-none-match': etag }),
    'inject alone (404)': get('/nothing'),
  })
  const floor = ns['inject alone (404)']
  const own = (name) => ns[name] - floor
  report('P6 list of 50', Object.entries(ns).map(([what, value]) => ({ what, us: (value / 1000).toFixed(1), 'beyond inject, of serialised': (own(what) / own('serialised for each request')).toFixed(2) })))
  await app.close()
}

async function sqliteWrites() {
  const app = await appWith(sqlite({ file: join(folder, 'settings.db') }))
  const raw = new Database(join(folder, 'raw.db'))
  raw.pragma('journal_mode = WAL')
  raw.pragma('synchronous = FULL')
  raw.exec('create table v (key text primary key, value text not null) without rowid')
  const upsert = raw.prepare('insert into v values (?, ?) on conflict (key) do update set value = excluded.value')
  const bulk = raw.transaction((value) => tokens.forEach(({ key }) => upsert.run(key, value)))
  await compare('P13 SQLite', {
    'raw single': () => upsert.run('app.key1', JSON.stringify(next())),
    'settings single': () => app.settings.setSetting('app.key1', next(), Application),
    'raw bulk of 500': () => bulk(JSON.stringify(next())),
    'settings bulk of 500': () => app.settings.setMany(all(next())),
  })
  raw.close()
  await app.close()
}

async function postgresWrites() {
  const server = await startPostgres()
  const { url } = await createDatabase(server.url)
  const app = await appWith(postgres({ connectionString: url }))
  const other = await appWith(postgres({ connectionString: url }))
  await other.listen({ port: 0, host: '127.0.0.1' })
  const raw = new pg.Client({ connectionString: url })
  await raw.connect()
  await raw.query('create table v (key text primary key, value text not null)')
  const upsert = (keys, value) =>
    raw.query({ name: 'upsert', text: 'insert into v select unnest($1::text[]), $2 on conflict (key) do update set value = excluded.value', values: [keys, value] })
  await compare('P13 PostgreSQL', {
    'raw single': () => upsert(['app.key1'], JSON.stringify(next())),
    'settings single': () => app.settings.setSetting('app.key1', next(), Application),
    'raw bulk of 500': () => upsert(tokens.map(({ key }) => key), JSON.stringify(next())),
    'settings bulk of 500': () => app.settings.setMany(all(next())),
  })
  await delays(app, other)
  await raw.end()
  await app.close()
  await other.close()
  await server.stop()
}

function all(value) {
  return tokens.map(({ key }) => ({ key, scope: Application, value }))
}

async function compare(title, writes) {
  const subjects = Object.entries(writes).map(([name, write]) => [name, async () => {
    const times = name.includes('bulk') ? 5 : 50
    for (let index = 0; index < times; index++) await write()
    return times
  }])
  const ns = await measure(Object.fromEntries(subjects), { rounds: 7 })
  report(title, Object.entries(ns).map(([what, value]) => ({ what, 'per second': Math.round(1e9 / value), 'of raw': (ns[what.replace('settings', 'raw')] / value).toFixed(2) })))
}

async function delays(app, other) {
  const samples = []
  for (let index = 0; index < 200; index++) {
    const value = next()
    let arrived
    const seen = new Promise((resolve) => {
      const off = other.settings.on('app.key2', (now) => now === value && (off(), (arrived = performance.now()), resolve()))
    })
    await app.settings.setSetting('app.key2', value, Application)
    const committed = performance.now()
    await seen
    samples.push(arrived - committed)
    await sleep(1)
  }
  report('P16 PostgreSQL, ms after commit', [{ median: percentile(samples, 0.5).toFixed(2), p99: percentile(samples, 0.99).toFixed(2) }])
}
