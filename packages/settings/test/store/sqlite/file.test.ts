/** What happens to the file from outside: other processes lock, replace and remove it. */
import { copyFile, mkdtemp, rename, rm, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { sqlite } from '@fastify-modular/settings/sqlite'
import Database from 'better-sqlite3'
import { type Test, test } from 'tap'
import { set, silentLog, stateOf, until } from '#src/testing/contract/case.js'
import { watchFile } from '#src/store/sqlite/connection.js'
import type { SettingsStore } from '#src/store/store.js'
import { failureOf, is503 } from '../failures.js'

async function newFile(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'settings-'))
  t.teardown(() => rm(folder, { recursive: true }))
  return join(folder, 'settings.db')
}

async function openStore(t: Test, source: Parameters<typeof sqlite>[0]): Promise<SettingsStore> {
  const store = sqlite(source)
  await store.open({ log: silentLog })
  t.teardown(() => store.close())
  return store
}

/** A database beside the file, with one value. */
async function prepareBackup(t: Test, file: string): Promise<string> {
  const store = await openStore(t, { file: `${file}.backup` })
  await set(store, 'restored', '1')
  await store.close()
  return `${file}.backup`
}

/** The keys in the file that the path leads to now, and the result of SQLite's integrity check. */
function contentOf(file: string): unknown {
  const database = new Database(file, { fileMustExist: true })
  try {
    const keys = database.prepare('select key from settings_value order by key').pluck().all()
    return [keys, database.pragma('integrity_check', { simple: true })]
  } finally {
    database.close()
  }
}

async function valuesOf(store: SettingsStore): Promise<string[]> {
  return (await store.readShared()).rows.map(({ key }) => key)
}

test('a new file that another process is about to write is waited for', async (t) => {
  const file = await newFile(t)
  const other = new Database(file)
  t.teardown(() => other.close())
  other.exec('begin immediate')
  const opened = openStore(t, { file })
  await delay(100)
  other.exec('rollback')
  await set(await opened, 'a', '1')
})

test('a write to a file that another one has replaced is not acknowledged; the next look opens the new one', async (t) => {
  const file = await newFile(t)
  const stores = [await openStore(t, { file }), await openStore(t, { file })]
  const [one, two] = stores as [SettingsStore, SettingsStore]
  await set(one, 'lost', '1')
  const { epoch } = await stateOf(one)
  await rename(await prepareBackup(t, file), file)
  for (const store of stores) {
    t.ok(is503(await failureOf(set(store, 'nowhere', '1'))))
    t.ok(is503(await failureOf(store.eraseUser('u1'))), 'nor is an erasure')
    t.ok(
      is503(await failureOf(store.reseal({ values: [], history: [] }))),
      'nor are texts that were sealed anew',
    )
    t.same(await valuesOf(store), ['lost'], 'reads are answered meanwhile')
  }
  t.not((await stateOf(one)).epoch, epoch)
  t.same(await valuesOf(one), ['restored'])
  t.equal((await set(one, 'first', '1')).revision, 2)
  t.equal((await stateOf(two)).revision, 2)
  t.equal((await set(two, 'second', '1')).revision, 3)
  await one.close()
  await two.close()
  t.same(contentOf(file), [['first', 'restored', 'second'], 'ok'])
})

test('what the log of a replaced file held is in that file, wherever it was moved', async (t) => {
  const file = await newFile(t)
  const store = await openStore(t, { file })
  await set(store, 'kept', '1')
  const backup = await prepareBackup(t, file)
  await rename(file, `${file}.moved`)
  await rename(backup, file)
  await stateOf(store)
  t.same(await valuesOf(store), ['restored'])
  await store.close()
  t.same(contentOf(`${file}.moved`), [['kept'], 'ok'])
})

test('while the file is gone no write is acknowledged and none is made; a new one is opened', async (t) => {
  const file = await newFile(t)
  const store = await openStore(t, { file })
  await set(store, 'lost', '1')
  const backup = await prepareBackup(t, file)
  await unlink(file)
  for (const content of [undefined, '']) {
    if (content !== undefined) await writeFile(file, content) // a copy that has just begun
    t.ok(is503(await failureOf(set(store, 'nowhere', '1'))))
    t.ok(is503(await failureOf(stateOf(store))))
    t.same(await valuesOf(store), ['lost'])
  }
  await copyFile(backup, `${file}.copy`)
  await rename(`${file}.copy`, file)
  t.equal((await stateOf(store)).revision, 1)
  t.same(await valuesOf(store), ['restored'])
})

test('a connection that was handed over is not opened again: its writes fail until the process restarts', async (t) => {
  const file = await newFile(t)
  const database = new Database(file)
  t.teardown(() => database.close())
  const store = await openStore(t, { database })
  await set(store, 'lost', '1')
  await rename(await prepareBackup(t, file), file)
  t.ok(is503(await failureOf(set(store, 'nowhere', '1'))))
  t.ok(is503(await failureOf(stateOf(store))))
  t.ok(database.open)
})

test('writes under a foreign lock wait for one whole time-out in total, until one succeeds', async (t) => {
  const file = await newFile(t)
  const database = new Database(file, { timeout: 150 })
  t.teardown(() => database.close())
  const store = await openStore(t, { database })
  /** The time-out that held when a write took the lock, or tried to. */
  const timeouts: unknown[] = []
  const pragma = database.pragma.bind(database)
  database.pragma = (source, options) => {
    if (source.startsWith('busy_timeout =')) timeouts.push(Number(source.split('=')[1]))
    return pragma(source, options)
  }
  const other = new Database(file)
  t.teardown(() => other.close())
  other.exec('begin immediate')
  const writes = ['a', 'b', 'c', 'd', 'e'].map((key) => failureOf(set(store, key, '1')))
  t.ok((await Promise.all(writes)).every(is503))
  t.ok(is503(await failureOf(store.eraseUser('u1'))))
  t.same(timeouts, [10, 150, 10, 150, 10, 150, 10, 150, 10, 150], 'the first with its own, five with 10 ms')
  other.exec('rollback')
  timeouts.length = 0
  t.equal((await set(store, 'a', '1')).revision, 1)
  t.equal((await set(store, 'a', '2')).revision, 2)
  t.same(timeouts, [10, 150], 'the second has the whole time-out again')
  t.equal(pragma('busy_timeout', { simple: true }), 150)
})

test('a watch of a clock that goes back looks all the same', async (t) => {
  const { now } = Date
  t.teardown(() => (Date.now = now))
  const { performance } = globalThis
  let hints = 0
  const stop = watchFile({ dataVersion: () => 1, interval: 1, onHint: () => void hints++, onLost: () => {} })
  t.teardown(stop)
  await until('the first look', () => hints === 1)
  Date.now = () => now() - 3_600_000
  const monotonic = performance.now.bind(performance)
  performance.now = () => monotonic() + 5000
  t.teardown(() => (performance.now = monotonic))
  await until('the second look', () => hints === 2)
})

test('a watch that fails says so once, and goes on when it works again', async (t) => {
  const state = { works: true, hints: 0, losses: 0 }
  const stop = watchFile({
    dataVersion() {
      if (!state.works) throw new Error('the file cannot be read')
      return 1
    },
    interval: 1,
    onHint: () => void state.hints++,
    onLost: () => void state.losses++,
  })
  t.teardown(stop)
  await until('the first look', () => state.hints === 1)
  state.works = false
  await until('the loss', () => state.losses === 1)
  state.works = true
  await until('the second look', () => state.hints === 2)
  t.equal(state.losses, 1)
})
