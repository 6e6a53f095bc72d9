import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import { WriteQueue } from '#src/store/write-queue.js'
import { failureOf, is503 } from './failures.js'

test('tasks run one at a time, in the order in which they came', async (t) => {
  const turns = new WriteQueue(1000)
  const log: string[] = []
  await Promise.all(
    ['a', 'b', 'c'].map((name) =>
      turns.take(async () => {
        log.push(`${name} starts`)
        await Promise.resolve()
        log.push(`${name} ends`)
      }),
    ),
  )
  t.same(log, ['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends'])
})

test('a task that fails lets the next one go', async (t) => {
  const turns = new WriteQueue(1000)
  const failing = turns.take(() => Promise.reject(new Error('mine')))
  const next = turns.take(async () => 'done')
  await t.rejects(failing, { message: 'mine' })
  t.equal(await next, 'done')
})

test('a task whose turn does not come is answered 503, never runs, and is not missed', async (t) => {
  const turns = new WriteQueue(10)
  let release = (): void => {}
  const holding = turns.take(() => new Promise<void>((resolve) => (release = resolve)))
  let ran = false
  const late = turns.take(async () => void (ran = true))
  t.ok(is503(await failureOf(late)))
  release()
  await holding
  t.equal(await turns.take(async () => 'free'), 'free')
  await sleep(0)
  t.notOk(ran)
})
