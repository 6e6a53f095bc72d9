/** What happens to the file from outside: other processes lock it. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { type Test, test } from 'tap'
import { user, set, silentLog, until } from '../../contract/case.ts'
import { watchFile } from '#src/store/sqlite/connection.js'
import type { StorePort } from '#src/store/store.js'
import { failureOf, is503 } from '../failures.js'
import { sqlite } from '../../support/stores.js'

async function newFile(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'settings-'))
  t.teardown(() => rm(folder, { recursive: true }))
  return join(folder, 'settings.db')
}

async function openStore(t: Test, source: Parameters<typeof sqlite>[0]): Promise<StorePort> {
  const store = sqlite(source)
  await store.open({ log: silentLog })
  t.teardown(() => store.close())
  return store
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
  t.ok(is503(await failureOf(store.owned.erase(user('u1')))))
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
  await until('the first look', () => hints > 0)
  const before = hints
  Date.now = () => now() - 3_600_000
  const monotonic = performance.now.bind(performance)
  performance.now = () => monotonic() + 5000
  t.teardown(() => (performance.now = monotonic))
  await until('another look', () => hints > before)
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
  await until('the first look', () => state.hints > 0)
  state.works = false
  await until('the loss', () => state.losses === 1)
  const before = state.hints
  state.works = true
  await until('another look', () => state.hints > before)
  t.equal(state.losses, 1)
})
