import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import { WriteQueue } from '#src/store/postgres/connection.js'
import { failureOf } from '../failures.js'

test('tasks run one at a time, in the order in which they came', async (t) => {
  const queue = new WriteQueue(1000, 1)
  const log: string[] = []
  await Promise.all(
    ['a', 'b', 'c'].map((name) =>
      queue.take(async () => {
        log.push(`${name} starts`)
        await Promise.resolve()
        log.push(`${name} ends`)
      }),
    ),
  )
  t.same(log, ['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends'])
})

test('a task that fails lets the next one go', async (t) => {
  const queue = new WriteQueue(1000, 1)
  const failing = queue.take(() => Promise.reject(new Error('mine')))
  const next = queue.take(async () => 'done')
  await t.rejects(failing, { message: 'mine' })
  t.equal(await next, 'done')
})

test('a task whose turn does not come fails with 503, never runs, and does not stop the next one', async (t) => {
  const queue = new WriteQueue(10, 1)
  let release = (): void => {}
  const holding = queue.take(() => new Promise<void>((resolve) => (release = resolve)))
  let ran = false
  const late = queue.take(async () => void (ran = true))
  t.match(await failureOf(late), {
    statusCode: 503,
    headers: { 'retry-after': '1' },
  })
  release()
  await holding
  t.equal(await queue.take(async () => 'free'), 'free')
  await sleep(0)
  t.notOk(ran)
})

test('a queue of several places runs as many tasks at once', async (t) => {
  const queue = new WriteQueue(60_000, 2)
  let running = 0
  let most = 0
  const work = async (): Promise<void> => {
    most = Math.max(most, ++running)
    await sleep(0)
    running--
  }
  await Promise.all(Array.from({ length: 7 }, () => queue.take(work)))
  t.equal(most, 2)
})
