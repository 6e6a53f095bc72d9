/** The SQLite store on `node:sqlite`; where this Node has none, what the application is told. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeSqlite, type NodeSqliteDatabase } from '@fastify-modular/core/internal'
import { storeContract } from '../../contract/store-contract.ts'
import { type Test, test } from 'tap'
import { change, rowId, set, silentLog, writeAll } from '../../contract/case.ts'
import { failureOf, is503 } from '../failures.js'
import { sqlite } from '../../support/stores.js'

const module = nodeSqlite()
const needsNode = { skip: module ? false : 'needs node:sqlite (Node 22.13 or newer)' }

async function newFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'settings-'))
}

function openDatabase(t: Test, file = ':memory:'): NodeSqliteDatabase {
  if (!module) throw new Error('this Node has no node:sqlite')
  const database = new module.DatabaseSync(file)
  t.teardown(() => database.close())
  return database
}

if (module) {
  storeContract(
    test,
    async () => {
      const folder = await newFolder()
      return {
        create: () => sqlite({ file: join(folder, 'settings.db'), driver: 'node' }, { pollInterval: 5 }),
        dispose: () => rm(folder, { recursive: true }),
      }
    },
    { patience: 60_000 },
  )
}

test('without node:sqlite its driver is one named error (FMOD_SETTINGS_DRIVER_UNSUPPORTED)', async (t) => {
  const folder = await newFolder()
  t.teardown(() => rm(folder, { recursive: true }))
  const store = sqlite({ file: join(folder, 'settings.db'), driver: 'node' })
  const opened = store.open({ log: silentLog })
  if (module) await opened.then(() => store.close())
  else
    await t.rejects(opened, {
      code: 'FMOD_SETTINGS_DRIVER_UNSUPPORTED',
      message: /node:sqlite does not work on Node .*22\.13/,
    })
})

test(
  'a DatabaseSync that was handed over stays open, and its tables are part of the transaction',
  needsNode,
  async (t) => {
    const database = openDatabase(t)
    database.exec('create table outbox (note text)')
    const store = sqlite({ database })
    t.equal(store.info.durable, false)
    await store.open({ log: silentLog })
    await writeAll(store, [change(rowId('a'), '1')], {
      enqueue(tx) {
        if (tx.kind === 'sync') tx.run('insert into outbox values (?)', ['sent'])
      },
    })
    await store.close()
    t.match(database.prepare('select note from outbox').all(), [{ note: 'sent' }])
  },
)

test(
  'a write inside a transaction of the caller is refused (FMOD_SETTINGS_TRANSACTION_OPEN)',
  needsNode,
  async (t) => {
    const database = openDatabase(t)
    const store = sqlite({ database })
    await store.open({ log: silentLog })
    database.exec('begin')
    await t.rejects(set(store, 'a', '1'), { code: 'FMOD_SETTINGS_TRANSACTION_OPEN' })
    database.exec('rollback')
    t.equal((await set(store, 'a', '1')).revision, 1)
  },
)

test(
  'failures of node:sqlite are those of SQLite: a locked file and a full one answer 503',
  needsNode,
  async (t) => {
    const folder = await newFolder()
    t.teardown(() => rm(folder, { recursive: true }))
    const file = join(folder, 'settings.db')
    const database = openDatabase(t, file)
    database.exec('pragma busy_timeout = 20')
    const store = sqlite({ database })
    await store.open({ log: silentLog })
    const other = openDatabase(t, file)
    other.exec('begin immediate')
    const locked = await failureOf(set(store, 'a', '1'))
    t.ok(is503(locked))
    t.match(locked, { message: /SQLITE_BUSY/ })
    other.exec('rollback')
    t.equal((await set(store, 'a', '1')).revision, 1)
    database.exec('pragma max_page_count = 1')
    const full = await failureOf(
      writeAll(
        store,
        Array.from({ length: 50 }, (_, index) => change(rowId(`k${index}`), `"${'x'.repeat(2000)}"`)),
      ),
    )
    t.ok(is503(full))
    t.match(full, { message: /SQLITE_FULL/ })
  },
)

test('a DatabaseSync that is closed is refused (FMOD_CORE_INVALID_OPTION)', needsNode, async (t) => {
  const database = openDatabase(t)
  const closed = module && new module.DatabaseSync(':memory:')
  closed?.close()
  await t.rejects(sqlite({ database: closed ?? database }).open({ log: silentLog }), {
    code: 'FMOD_CORE_INVALID_OPTION',
  })
})
