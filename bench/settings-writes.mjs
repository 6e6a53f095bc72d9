// P13: one validated write and a bulk of 500, against a raw prepared loop with the same durability.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setting, settings, SettingScope } from '@fastify-modular/settings'
import { postgres } from '@fastify-modular/settings/postgres'
import { sqlite } from '@fastify-modular/settings/sqlite'
import { createDatabase, startPostgres } from '@fastify-modular/test-support/postgres'
import Database from 'better-sqlite3'
import Fastify from 'fastify'
import { Client } from 'pg'
import { median, report, sample, size } from './support/measure.mjs'

const tokens = Array.from({ length: 500 }, (_, number) =>
  setting.text(`bench.key-${number}`, {
    displayName: 'Key',
    scope: SettingScope.Application,
    maxLength: 100,
  }),
)
const keys = tokens.map(({ key }) => key)
const goals = { single: 0.7, bulk: 0.6 }
const times = { single: size(100, 10), bulk: size(4, 1) }
let count = 0

await onSqlite()
await onPostgres()

async function onSqlite() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const app = await appWith(sqlite({ file: join(folder, 'settings.db') }))
  const database = new Database(join(folder, 'raw.db'))
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  const raw = rawSqlite(database)
  await compare('P13 writes in SQLite, synchronous FULL', app.settings, raw)
  database.close()
  await app.close()
  rmSync(folder, { recursive: true })
}

async function onPostgres() {
  const server = await startPostgres()
  const { url } = await createDatabase(server.url)
  const app = await appWith(postgres({ connectionString: url }))
  const client = new Client({ connectionString: url })
  await client.connect()
  await compare('P13 writes in PostgreSQL', app.settings, await rawPostgres(client))
  await client.end()
  await app.close()
  await server.stop()
}

/** The least that a table of settings needs: no validation, no history, no revision. */
function rawSqlite(database) {
  database.exec('create table raw (key text primary key, value text not null) without rowid')
  const upsert = database.prepare(
    'insert into raw values (?, ?) on conflict (key) do update set value = excluded.value',
  )
  return {
    single: (value) => upsert.run(keys[0], value),
    bulk: database.transaction((value) => {
      for (const key of keys) upsert.run(key, value)
    }),
  }
}

/** In a bulk all rows are sent as one statement: a loop would be slower by far. */
async function rawPostgres(client) {
  await client.query('create table raw (key text primary key, value text not null)')
  const text = `insert into raw select key, $2 from unnest($1::text[]) as key
    on conflict (key) do update set value = excluded.value`
  const upsert = (list, value) => client.query({ name: 'upsert', text, values: [list, value] })
  return { single: (value) => upsert([keys[0]], value), bulk: (value) => upsert(keys, value) }
}

async function appWith(store) {
  const app = Fastify()
  await app.register(settings, { definitions: tokens, store, routes: false })
  await app.ready()
  return app
}

async function compare(title, contract, raw) {
  const scope = SettingScope.Application
  const ours = {
    single: (value) => contract.setSetting(keys[0], value, scope),
    bulk: (value) => contract.setMany(keys.map((key) => ({ key, scope, value }))),
  }
  const rows = []
  for (const kind of ['single', 'bulk']) {
    const repeat = (write) => async () => {
      for (let time = 0; time < times[kind]; time++) await write(`value ${count++}`)
      return times[kind]
    }
    const rounds = await sample({ raw: repeat(raw[kind]), ours: repeat(ours[kind]) }, { rounds: size(21, 3) })
    const perSecond = (name) => Math.round(1e9 / median(rounds.map((round) => round[name])))
    rows.push({
      write: kind === 'bulk' ? 'bulk of 500' : 'single',
      'raw per s': perSecond('raw'),
      'ours per s': perSecond('ours'),
      'ours over raw': median(rounds.map((round) => round.raw / round.ours)).toFixed(2),
      goal: goals[kind],
    })
  }
  report(title, rows)
}
