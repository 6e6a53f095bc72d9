/** The outbox on `node:sqlite`, and what the adapter to it promises. */
import { type Test, test } from 'tap'
import { sqliteTx } from '@fastify-modular/core'
import { sqliteOutbox } from '@fastify-modular/core/events/sqlite-outbox'
import {
  nodeSqlite,
  NodeSqliteConnection,
  type NodeSqliteDatabase,
  sqliteCodeOf,
} from '@fastify-modular/core/internal'
import { eventTransportContract } from '@fastify-modular/core/testing'
import { sqliteFixture } from './fixtures/sqlite.js'

const module = nodeSqlite()
const needsNode = { skip: module ? false : 'needs node:sqlite (Node 22.13 or newer)' }

function openDatabase(file: string): NodeSqliteDatabase {
  if (!module) throw new Error('this Node has no node:sqlite')
  return new module.DatabaseSync(file)
}

function openConnection(t: Test): NodeSqliteConnection {
  const connection = new NodeSqliteConnection(openDatabase(':memory:'))
  t.teardown(() => connection.close())
  return connection
}

for (const sameConnection of [true, false]) {
  const connection = sameConnection ? 'the connection of the publisher' : 'a connection of its own'
  test(`sqliteOutbox on node:sqlite, on ${connection}`, needsNode, async (t) => {
    eventTransportContract(
      (name, run) => void t.test(name, run),
      () => sqliteFixture(openDatabase, sameConnection, sqliteTx),
      { patience: 60_000 },
    )
  })
}

test('without a connection of either driver the outbox is refused (FMOD_CORE_INVALID_OPTION)', async (t) => {
  const statementsAlone = {
    exec: () => {},
    prepare: () => ({ run: () => ({ changes: 0 }) }),
    close: () => {},
  }
  // @ts-expect-error its statements lack methods
  t.throws(() => sqliteOutbox({ database: statementsAlone }), {
    code: 'FMOD_CORE_INVALID_OPTION',
    message: /better-sqlite3 or node:sqlite/,
  })
})

test('columns of one name stay apart in rows that are arrays', needsNode, async (t) => {
  const connection = openConnection(t)
  connection.exec("create table a (value, name); insert into a values (1, 'x'), (2, 'y')")
  const pairs = connection.prepare(
    'select l.value, r.value, l.name from a l join a r on l.value = ? order by r.value',
  )
  t.same(pairs.raw().all(1), [
    [1, 1, 'x'],
    [1, 2, 'x'],
  ])
  t.same(pairs.raw().get([2]), [2, 1, 'y'])
})

test(
  'a transaction within a transaction is a savepoint; a failure undoes its own statements alone',
  needsNode,
  async (t) => {
    const connection = openConnection(t)
    connection.exec('create table a (value)')
    const insert = connection.prepare('insert into a values (@value)')
    const fail = connection.transaction((value: number) => {
      insert.run({ value })
      throw new Error('mine')
    })
    const outer = connection.transaction((value: number) => {
      t.equal(connection.inTransaction, true)
      insert.run({ value })
      t.throws(() => fail.immediate(value + 1), { message: 'mine' })
      return 'done'
    })
    t.equal(outer.immediate(1), 'done')
    t.equal(outer(5), 'done')
    t.equal(connection.inTransaction, false)
    t.throws(() => fail.immediate(3), { message: 'mine' })
    t.throws(() => fail(4), { message: 'mine' })
    t.same(connection.prepare('select value from a').pluck().all(), [1, 5])
  },
)

test('an error of node:sqlite has the name of its result code', needsNode, async (t) => {
  const connection = openConnection(t)
  const codeOf = (sql: string): string => {
    try {
      connection.exec(sql)
      return ''
    } catch (error) {
      return sqliteCodeOf(error)
    }
  }
  t.equal(codeOf('select'), 'SQLITE_ERROR')
  t.equal(codeOf('create table a (b not null); insert into a values (null)'), 'SQLITE_CONSTRAINT')
})

test('the code of any other error is its own', async (t) => {
  t.equal(
    sqliteCodeOf(Object.assign(new Error('busy'), { code: 'SQLITE_BUSY_SNAPSHOT' })),
    'SQLITE_BUSY_SNAPSHOT',
  )
  t.equal(sqliteCodeOf(new Error('none')), '')
  t.equal(sqliteCodeOf('text'), '')
})
