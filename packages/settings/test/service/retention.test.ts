import { memoryStore, type TrimResult } from '@fastify-modular/settings'
import { test } from 'tap'
import { startRetention } from '#src/history/history.js'
import { silentLog, until } from '#src/testing/contract/case.js'

const day = 24 * 60 * 60 * 1000

/** A store that counts what trimming asks of it. */
function recorder(portions = 1) {
  const calls: string[] = []
  let left = portions
  const take = (after: number): TrimResult => {
    calls.push(`history after ${after}`)
    left--
    return { removed: 3, next: left > 0 ? after + 10 : null }
  }
  return {
    calls,
    store: {
      claimTrim: async (interval: number) => {
        calls.push(`claim for ${interval / day} day`)
        return true
      },
      trimHistory: async (olderThan: number, after: number) => {
        calls.push(`older than ${Math.round((Date.now() - olderThan) / day)} days`)
        return take(after)
      },
    },
  }
}

test('old history goes portion by portion, and nothing of it at boot', async (t) => {
  const { calls, store } = recorder(2)
  const asleep = startRetention({ store, log: silentLog })
  const stop = startRetention({ store, days: 7, log: silentLog, delay: 0 })
  await until('the last portion', () => calls.includes('history after 10'))
  await stop()
  await asleep()
  t.same(calls, [
    'claim for 1 day',
    'older than 7 days',
    'history after 0',
    'older than 7 days',
    'history after 10',
  ])
})

test('history that is kept for longer than there are times is no wrong time', async (t) => {
  const { calls, store } = recorder()
  const stop = startRetention({ store, days: Number.MAX_SAFE_INTEGER, log: silentLog, delay: 0 })
  await until('the last portion', () => calls.includes('history after 0'))
  await stop()
  t.equal(calls[1], `older than ${Math.round(Date.now() / day)} days`)
})

test('a process that does not get the claim trims nothing', async (t) => {
  const { calls, store } = recorder()
  let claims = 0
  const stop = startRetention({
    store: { ...store, claimTrim: async () => (claims++, false) },
    log: silentLog,
    delay: 0,
  })
  await until('the claim', () => claims > 0)
  await stop()
  t.same(calls, [])
})

test('closing ends it after the portion that runs', async (t) => {
  const { calls, store } = recorder(Infinity)
  const stop = startRetention({ store, log: silentLog, delay: 0 })
  await until('some portions', () => calls.length > 6)
  await stop()
  const { length } = calls
  t.match(calls[length - 1], /^history after/)
  await new Promise(setImmediate)
  t.equal(calls.length, length)
})

test('a failure is logged, and no reason to end', async (t) => {
  const warnings: unknown[] = []
  const log = { ...silentLog, warn: (...line: unknown[]) => void warnings.push(line) }
  const store = { ...memoryStore(), claimTrim: () => Promise.reject(new Error('down')) }
  const stop = startRetention({ store, log, delay: 0 })
  await until('the warning', () => warnings.length === 1)
  await stop()
  t.match(warnings, [[{ err: { message: 'down' } }, /could not be removed/]])
})
