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
  const place = (name) => sqlite({ file: join(folder, name) })
  const app = await appWith(place('ours.db'))
  await (await appWith(place('raw.db'))).close() // makes the tables
  const database = new Database(join(folder, 'raw.db'))
  database.pragma('synchronous = FULL')
  await compare('P13 writes in SQLite', { ...rawSqlite(database), ours: ours(app.settings.contract) })
  database.close()
  await app.close()
  rmSync(folder, { recursive: true })
}

async function onPostgres() {
  const server = await startDurablePostgres()
  const place = (schema) => postgres({ connectionString: server.url }, { schema })
  const app = await appWith(place('ours'))
  await (await appWith(place('raw'))).close()
  const client = new Client({ connectionString: server.url, options: '-c search_path=raw' })
  await client.connect()
  await compare('P13 writes in PostgreSQL', {
    ...(await rawPostgres(client)),
    ours: ours(app.settings.contract),
  })
  await client.end()
  await app.close()
  await server.stop()
}

/** `raw` keeps values and nothing else; `same` writes the rows that the contract writes, in its tables. */
function rawSqlite(database) {
  database.exec('create table raw (key text primary key, value text not null) without rowid')
  const upsert = database.prepare(
    'insert into raw values (?, ?) on conflict (key) do update set value = excluded.value',
  )
  const save = database.prepare(`
    insert into settings_value values (1, '', ?, ?, 0, ?, ?, null) on conflict (scope, owner, key)
    do update set value = excluded.value, revision = excluded.revision, updated_at = excluded.updated_at`)
  const note = database.prepare(`
    insert into settings_history (revision, scope, key, old_value, new_value, origin, at)
    values (?, 1, ?, ?, ?, 'contract', ?)`)
  const number = database.prepare("update settings_meta set value = ? where name = 'revision'")
  return {
    raw: database.transaction((list, value) => {
      for (const key of list) upsert.run(key, value)
    }),
    same: database.transaction((list, value) => {
      const at = Date.now()
      for (const key of list) {
        save.run(key, value, count, at)
        note.run(count, key, value, value, at)
      }
      number.run(String(count))
    }),
  }
}

/** All rows travel in one statement: a loop would be slower by far. */
async function rawPostgres(client) {
  await client.query('create table raw (key text primary key, value text not null)')
  const upsert = `insert into raw select key, $2::text from unnest($1::text[]) as key
    on conflict (key) do update set value = excluded.value`
  const all = `
    with saved as (
      insert into settings_value select 1, '', key, $2::text, false, $3::bigint, $4::bigint, null
      from unnest($1::text[]) as key on conflict (scope, owner, key)
      do update set value = excluded.value, revision = excluded.revision, updated_at = excluded.updated_at
    ), numbered as (
      update settings_meta set value = $3::text where name = 'revision'
    )
    insert into settings_history (revision, scope, key, old_value, new_value, origin, at)
    select $3::bigint, 1, key, $2::text, $2::text, 'contract', $4::bigint from unnest($1::text[]) as key`
  const write = (name, text, values) => client.query({ name, text, values })
  return {
    raw: (list, value) => write('raw', upsert, [list, value]),
    same: (list, value) => write('same', all, [list, value, count, Date.now()]),
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
    'same rows ms': ms('same'),
    'ours ms': ms('ours'),
    'ours, of raw': ratioTo('raw'),
    'ours, of same rows': ratioTo('same'),
    goal,
  }
}
