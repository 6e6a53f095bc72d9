import Database from 'better-sqlite3'
import pg from 'pg'
import { test } from 'tap'
import { mapDatabaseConflicts, isForeignKeyViolation, isUniqueViolation } from '@fastify-modular/errors'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { createApp } from '../support/app.js'
import { problemOf } from '../support/expect.js'

const schema = `
  CREATE TABLE account (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE);
  CREATE TABLE entry (account INTEGER NOT NULL REFERENCES account (id), amount INTEGER CHECK (amount > 0));
  INSERT INTO account VALUES (1, 'secret@example.org');
  INSERT INTO entry VALUES (1, 5);`

/** Statements that the tables refuse, by what their answer says. */
const refused = {
  'A record with this key already exists.': [
    `INSERT INTO account VALUES (1, 'other@example.org')`,
    `INSERT INTO account VALUES (2, 'secret@example.org')`,
    `UPDATE account SET email = 'secret@example.org' WHERE id <> 1`,
  ],
  'A related record is missing or still in use.': ['INSERT INTO entry VALUES (7, 5)', 'DELETE FROM account'],
} as const
const defects = [
  'INSERT INTO account VALUES (3, NULL)',
  'INSERT INTO entry VALUES (1, -1)',
  'SELECT * FROM none',
]

/** Runs a statement; rejects with what the driver throws. */
type Execute = (sql: string) => unknown

const engines: Readonly<Record<string, (t: Parameters<typeof testDatabase>[0]) => Promise<Execute>>> = {
  async 'better-sqlite3'(t) {
    const database = new Database(':memory:')
    t.teardown(async () => void database.close())
    database.pragma('foreign_keys = ON')
    database.exec(`${schema} INSERT INTO account VALUES (9, 'nine@example.org')`)
    return (sql) => database.prepare(sql).run()
  },
  async PostgreSQL(t) {
    const { url } = await testDatabase(t)
    const client = new pg.Client(url)
    await client.connect()
    t.teardown(() => client.end())
    await client.query(`${schema} INSERT INTO account VALUES (9, 'nine@example.org')`)
    return (sql) => client.query(sql)
  },
}

for (const [engine, open] of Object.entries(engines)) {
  test(`opt-in: keys that are taken and rows that are missing are conflicts in ${engine}`, async (t) => {
    const execute = await open(t)
    const { app, failures } = await createApp(t, {
      after(it) {
        mapDatabaseConflicts(it.problems)
        it.post('/', async ({ body }) => execute(body as string))
        it.post('/wrapped', async ({ body }) => {
          try {
            await execute(body as string)
          } catch (cause) {
            throw new Error(`Failed query: ${String(body)}`, { cause }) // as query builders do
          }
        })
      },
    })
    const post = (url: string, payload: string) =>
      app.inject({ method: 'POST', url, payload, headers: { 'content-type': 'text/plain' } })
    for (const [detail, statements] of Object.entries(refused)) {
      for (const sql of statements) {
        for (const url of ['/', '/wrapped']) {
          const answer = await post(url, sql)
          t.equal(problemOf(t, answer, 409, 'Conflict').detail, detail, sql)
          t.notMatch(answer.body, /account|entry|secret|UNIQUE|constraint/i)
        }
      }
    }
    t.notOk(
      failures().some(({ level }) => level >= 40),
      'a conflict is no defect',
    )
    for (const sql of defects) problemOf(t, await post('/', sql), 500)
  })
}

test('codes are looked for below wrappers, but not forever', (t) => {
  const driver = Object.assign(new Error(), { errcode: 2067 }) // node:sqlite has numbers
  t.ok(isUniqueViolation(new Error('query', { cause: new Error('pool', { cause: driver }) })))
  t.ok(isForeignKeyViolation(Object.assign(new Error(), { errcode: 787 })))
  const circle = new Error()
  circle.cause = circle
  for (const value of [circle, null, undefined, 'x', new Proxy({}, { get: () => t.fail })]) {
    t.notOk(isUniqueViolation(value))
  }
  t.end()
})
