// P13: one validated write and a bulk of 500, against raw prepared statements with the same durability.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setting, settings, SettingScope } from '@fastify-modular/settings'
import { postgres } from '@fastify-modular/settings/postgres'
import { sqlite } from '@fastify-modular/settings/sqlite'
import Database from 'better-sqlite3'
import Fastify from 'fastify'
import { Client } from 'pg'
import { startDurablePostgres } from './support/durable-postgres.mjs'
import { median, report, sample, size } from './support/measure.mjs'

const scope = SettingScope.Application
const tokens = Array.from({ length: 500 }, (_, number) =>
  setting.text(`bench.key-${number}`, { displayName: 'Key', scope }),
)
const keys = tokens.map(({ key }) => key)
let count = 0

await onSqlite()
await onPostgres()

async function onSqlite() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const app = await appWith(sqlite({ file: join(folder, 'settings.db') }))
  const database = new Database(join(folder, 'raw.db'))
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  await compare('P13 writes in SQLite', { ...rawSqlite(database), ours: ours(app.settings) })
  database.close()
  await app.close()
  rmSync(folder, { recursive: true })
}

async function onPostgres() {
  const server = await startDurablePostgres()
  const app = await appWith(postgres({ connectionString: server.url }))
  const client = new Client({ connectionString: server.url })
  await client.connect()
  await compare('P13 writes in PostgreSQL', { ...(await rawPostgres(client)), ours: ours(app.settings) })
  await client.end()
  await app.close()
  await server.stop()
}

/** `raw` keeps values and nothing else; `withHistory` keeps who changed what too, as the contract demands. */
function rawSqlite(database) {
  database.exec(`
    create table raw_value (key text primary key, value text not null) without rowid;
    create table raw_history (revision integer, key text, value text, at integer, primary key (revision, key)) without rowid;
    create index raw_history_key on raw_history (key, revision);
    create table raw_meta (revision integer)`)
  const upsert = database.prepare(
    'insert into raw_value values (?, ?) on conflict (key) do update set value = excluded.value',
  )
  const note = database.prepare('insert into raw_history values (?, ?, ?, ?)')
  const number = database.prepare('update raw_meta set revision = ?')
  database.exec('insert into raw_meta values (0)')
  return {
    raw: database.transaction((list, value) => {
      for (const key of list) upsert.run(key, value)
    }),
    withHistory: database.transaction((list, value) => {
      for (const key of list) {
        upsert.run(key, value)
        note.run(count, key, value, Date.now())
      }
      number.run(count)
    }),
  }
}

/** All rows travel in one statement: a loop would be slower by far. */
async function rawPostgres(client) {
  await client.query(`
    create table raw_value (key text primary key, value text not null);
    create table raw_history (revision bigint, key text, value text, at bigint, primary key (revision, key));
    create index raw_history_key on raw_history (key, revision);
    create table raw_meta (revision bigint);
    insert into raw_meta values (0)`)
  const upsert = `insert into raw_value select key, $2::text from unnest($1::text[]) as key
    on conflict (key) do update set value = excluded.value`
  const all = `with saved as (${upsert}), counted as (update raw_meta set revision = $3::bigint)
    insert into raw_history select $3::bigint, key, $2::text, $4::bigint from unnest($1::text[]) as key`
  return {
    raw: (list, value) => client.query({ name: 'raw', text: upsert, values: [list, value] }),
    withHistory: (list, value) =>
      client.query({ name: 'all', text: all, values: [list, value, count, Date.now()] }),
  }
}

function ours(contract) {
  return (list, value) =>
    list.length === 1
      ? contract.setSetting(list[0], value, scope)
      : contract.setMany(list.map((key) => ({ key, scope, value })))
}

async function appWith(store) {
  const app = Fastify()
  await app.register(settings, { definitions: tokens, store, routes: false })
  await app.ready()
  return app
}

async function compare(title, writers) {
  const rows = [
    await compareOn(writers, { write: 'single', list: keys.slice(0, 1), times: size(100, 10), goal: 0.7 }),
    await compareOn(writers, { write: 'bulk of 500', list: keys, times: size(5, 1), goal: 0.6 }),
  ]
  report(title, rows)
}

async function compareOn(writers, { write, list, times, goal }) {
  const repeat = (run) => async () => {
    for (let time = 0; time < times; time++) await run(list, `value ${count++}`)
    return times
  }
  const subjects = Object.fromEntries(Object.entries(writers).map(([name, run]) => [name, repeat(run)]))
  const samples = await sample(subjects, { rounds: size(16, 3) })
  const ms = (name) => (median(samples.map((round) => round[name])) / 1e6).toFixed(2)
  const ratioTo = (name) => median(samples.map((round) => round[name] / round.ours)).toFixed(2)
  return {
    write,
    'raw ms': ms('raw'),
    'raw with history ms': ms('withHistory'),
    'ours ms': ms('ours'),
    'ours, of raw': ratioTo('raw'),
    'ours, of raw with history': ratioTo('withHistory'),
    goal,
  }
}
