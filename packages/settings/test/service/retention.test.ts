import { SettingScope } from '@fastify-modular/settings'
import { test } from 'tap'
import { Retention } from '#src/store/retention.js'
import type { TrimLimits, TrimResult } from '#src/store/store.js'
import { nextMillisecond, rowId, set, silentLog, trimAll, until } from '../contract/case.ts'
import { createApp } from '../support/app.ts'
import { engines } from '../support/engines.ts'
import { sqlite } from '../support/stores.js'

const day = 24 * 60 * 60 * 1000

/** A store that has so many portions to remove, and counts what trimming asks of it. */
function recorder(portions = 1) {
  const calls: string[] = []
  let left = portions
  const trim = async ({ olderThan, perValue }: TrimLimits): Promise<TrimResult> => {
    calls.push(`older than ${Math.round((Date.now() - olderThan) / day)} days, ${perValue} of a value`)
    left--
    return { removed: 3, isDone: left <= 0 }
  }
  return { calls, store: { trim } }
}

/** What one write of these values did. */
function written(...keys: string[]) {
  const { Application: scope } = SettingScope
  const changes = keys.map((key) => ({
    scope,
    owner: '',
    key,
    revision: 1,
    before: undefined,
    after: undefined,
  }))
  return { revision: 1, token: '00000000', at: 0, changes }
}

test('old history goes portion by portion, and nothing of it at boot', async (t) => {
  const { calls, store } = recorder(2)
  const asleep = new Retention({ store, log: silentLog })
  asleep.start()
  const retention = new Retention({ store, days: 7, perValue: 5, log: silentLog, delay: 0 })
  retention.start()
  await until('the last portion', () => calls.length === 2)
  await retention.stop()
  await asleep.stop()
  t.same(calls, ['older than 7 days, 5 of a value', 'older than 7 days, 5 of a value'])
})

test('history that is kept for longer than there are times is no wrong time', async (t) => {
  const { calls, store } = recorder()
  const retention = new Retention({ store, days: Number.MAX_SAFE_INTEGER, log: silentLog, delay: 0 })
  retention.start()
  await until('the portion', () => calls.length === 1)
  await retention.stop()
  t.same(calls, [`older than ${Math.round(Date.now() / day)} days, 100 of a value`])
})

test('stopping does not wait for a store that never answers', async (t) => {
  let begun = false
  const store = { trim: () => ((begun = true), new Promise<TrimResult>(() => {})) }
  const retention = new Retention({ store, log: silentLog, delay: 0, patience: 1 })
  retention.start()
  await until('the portion', () => begun)
  await retention.stop()
  t.pass('it has stopped')
})

test('a run begins when one value was written as often as entries of it are kept', async (t) => {
  const { calls, store } = recorder()
  const retention = new Retention({ store, perValue: 3, log: silentLog })
  for (const key of ['a', 'b', 'a', 'c']) retention.wrote(written(key))
  await new Promise(setImmediate)
  t.same(calls, [])
  retention.wrote(written('b', 'a'))
  await until('the run', () => calls.length === 1)
  for (const key of ['a', 'b', 'b']) retention.wrote(written(key))
  await new Promise(setImmediate)
  t.equal(calls.length, 1, 'counted anew')
  retention.wrote(written('b'))
  await until('the next run', () => calls.length === 2)
  await retention.stop()
})

test('many values that were written begin a run, too: not all are counted', async () => {
  const { calls, store } = recorder()
  const retention = new Retention({ store, log: silentLog })
  for (let value = 0; value <= 10_000; value++) retention.wrote(written(`k${value}`))
  await until('the run', () => calls.length === 1)
  await retention.stop()
})

test('closing ends it after the portion that runs', async (t) => {
  const { calls, store } = recorder(Infinity)
  const retention = new Retention({ store, log: silentLog, delay: 0 })
  retention.start()
  await until('some portions', () => calls.length > 6)
  await retention.stop()
  const { length } = calls
  await new Promise(setImmediate)
  t.equal(calls.length, length)
  retention.wrote(written(...Array.from({ length: 100 }, () => 'a')))
  await new Promise(setImmediate)
  t.equal(calls.length, length, 'and no run begins')
})

test('a failure is logged, and the next run tries again', async (t) => {
  const warnings: unknown[] = []
  const log = { ...silentLog, warn: (...line: unknown[]) => void warnings.push(line) }
  let calls = 0
  const trim = async () => {
    if (++calls === 1) throw new Error('down')
    return { removed: 0, isDone: true }
  }
  const retention = new Retention({ store: { trim }, perValue: 1, log, delay: 0 })
  retention.start()
  await until('the warning', () => warnings.length === 1)
  retention.wrote(written('a'))
  await until('the next run', () => calls === 2)
  await retention.stop()
  t.match(warnings, [[{ err: { message: 'down' } }, /could not be removed/]])
})

const writesByEngine = { memory: 10_000, SQLite: 10_000, PostgreSQL: 500 } as const

for (const name of ['memory', 'SQLite', 'PostgreSQL'] as const) {
  test(`${name}: many writes of one value leave at most twice as many entries as are kept`, async (t) => {
    const writes = writesByEngine[name]
    const store = name === 'SQLite' ? sqlite({ file: ':memory:' }) : (await engines[name](t))()
    const { settings } = await createApp(t, { store, history: { perValue: 20 } })
    for (let value = 1; value <= writes; value++)
      await settings.contract.setSetting('mail.port', value, SettingScope.System)
    const left = () => store.history({ key: 'mail.port', limit: writes })
    await until('the last run', async () => (await left()).length <= 40)
    const entries = await left()
    t.equal(entries[0]?.newValue, String(writes))
    t.ok(entries.length >= 20)
  })
}

// PostgreSQL has a clock of its own: its test moves the marks instead.
for (const name of ['memory', 'SQLite'] as const) {
  test(`${name}: trimming goes on when the clock was set back after it, beyond one portion too`, async (t) => {
    const store = (await engines[name](t))()
    const { now } = Date
    const moveClock = (hours: number) => (Date.now = () => now() + hours * (day / 24))
    t.teardown(() => (Date.now = now))
    await store.open({ log: silentLog })
    t.teardown(() => store.close())
    moveClock(24)
    await set(store, 'a', '1')
    moveClock(25)
    await trimAll(store, { perValue: 1 })
    Date.now = now
    const trim = async (): Promise<number> => {
      await nextMillisecond(until)
      return (await trimAll(store, { perValue: 1 })).reduce((total, removed) => total + removed, 0)
    }
    const ids = Array.from({ length: 300 }, (_, index) => rowId(`k${index}`))
    for (const value of ['1', '2', '3']) await set(store, ids, value)
    t.equal(await trim(), 600)
    await set(store, 'k1', '4')
    t.equal(await trim(), 1)
  })
}
