import { printSql } from '@fastify-modular/settings/sqlite'
import Database from 'better-sqlite3'
import { test } from 'tap'
import { silentLog } from '../../contract/case.ts'
import { sqlite } from '../../support/stores.js'

test('options that cannot work are refused at once (FMOD_CORE_INVALID_OPTION)', async (t) => {
  const refused = { code: 'FMOD_CORE_INVALID_OPTION' }
  t.throws(() => sqlite({ file: '' }), refused)
  for (const tablePrefix of ['x"; drop table users; --', '1a', 'a-b', 'ä', 'x'.repeat(41)]) {
    t.throws(() => sqlite({ file: 'x.db' }, { tablePrefix }), refused)
    t.throws(() => printSql({ tablePrefix }), refused)
  }
  for (const pollInterval of [0, -1, Number.NaN, 1e9]) {
    t.throws(() => sqlite({ file: 'x.db' }, { pollInterval }), refused)
  }
  for (const untyped of [{ tablePrefix: 'tenant1_' }, { migrate: 'check' }, { pollInterval: -1 }]) {
    const source = { file: 'x.db', ...untyped } // the second argument takes them
    t.throws(() => sqlite(source), {
      ...refused,
      message: /unknown option source\..*; expected file, driver or database/,
    })
  }
  t.throws(() => sqlite({ file: 'x.db' }, { migrate: 'chekc' } as object), refused)
  const misspelt = { tablePrefx: 'tenant1_' }
  const nearest = { ...refused, message: /options\.tablePrefx \(did you mean options\.tablePrefix\?\)/ }
  for (const create of [(options: object) => sqlite({ file: 'x.db' }, options), printSql])
    t.throws(() => create(misspelt), nearest)
  t.throws(() => sqlite({ file: 'x.db' }, { tablePrefx: 'a', migrate: 'no', pollInterval: 0 } as object), {
    ...refused,
    message: /migrate.*pollInterval.*tablePrefx/,
  })
  // @ts-expect-error a JavaScript application
  t.throws(() => sqlite('x.db'), { ...refused, message: /source must be an object/ })
  // @ts-expect-error a JavaScript application
  t.throws(() => sqlite({ file: 5 }), refused)
  const otherDriver = { open: true, memory: true, prepare: () => ({}), exec: () => {} } // the methods of node:sqlite
  // @ts-expect-error a connection without pragma() and transaction()
  t.throws(() => sqlite({ database: otherDriver }), {
    ...refused,
    message: /of better-sqlite3 or node:sqlite/,
  })
  t.throws(() => sqlite({ file: 'x.db', driver: 'bun' } as object as { file: string }), {
    ...refused,
    message: /driver/,
  })
  const closed = new Database(':memory:').close()
  await t.rejects(sqlite({ database: closed }).open({ log: silentLog }), refused)
})
