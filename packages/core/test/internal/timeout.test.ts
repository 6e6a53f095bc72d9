import { test } from 'tap'
import { withTimeout } from '@fastify-modular/core/internal'

const never = new Promise<never>(() => undefined)
const late = (): never => {
  throw new Error('late')
}

test('a promise that settles in time settles the wait', async (t) => {
  t.equal(await withTimeout(Promise.resolve(1), 60_000, late), 1)
  await t.rejects(withTimeout(Promise.reject(new Error('its own')), 60_000, late), { message: 'its own' })
})

test('a promise that does not settle in time gives way to the value or the error of the time-out', async (t) => {
  t.equal(await withTimeout(never, 1, () => 'late'), 'late')
  await t.rejects(withTimeout(never, 1, late), { message: 'late' })
})

test('no timer is left behind', async (t) => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = timers()
  await withTimeout(Promise.resolve(), 60_000, late)
  await withTimeout(Promise.reject(new Error('no')), 60_000, late).catch(() => undefined)
  t.equal(timers(), before)
})
