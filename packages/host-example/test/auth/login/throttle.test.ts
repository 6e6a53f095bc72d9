import { test } from 'tap'
import { createThrottle } from '#src/auth/login/throttle.js'

test('ten attempts a minute pass, the eleventh waits for the rest of the minute', (t) => {
  let now = 0
  const throttle = createThrottle({}, () => now)
  for (let attempt = 0; attempt < 10; attempt += 1) t.equal(throttle.take('alice 127.0.0.1'), 0)
  t.equal(throttle.take('alice 127.0.0.1'), 60)
  now = 59_100
  t.equal(throttle.take('alice 127.0.0.1'), 1)
  now = 60_000
  t.equal(throttle.take('alice 127.0.0.1'), 0)
  t.end()
})

test('other accounts and other addresses are not slowed down', (t) => {
  const throttle = createThrottle({ limit: 1 })
  t.equal(throttle.take('alice 127.0.0.1'), 0)
  t.equal(throttle.take('bob 127.0.0.1'), 0)
  t.equal(throttle.take('alice 127.0.0.2'), 0)
  t.not(throttle.take('alice 127.0.0.1'), 0)
  t.end()
})

test('signing in forgets the attempts before', (t) => {
  const throttle = createThrottle({ limit: 1 })
  throttle.take('alice')
  throttle.reset('alice')
  t.equal(throttle.take('alice'), 0)
  t.end()
})

test('memory is bounded: the key that was quiet longest is forgotten first', (t) => {
  const throttle = createThrottle({ limit: 2, maxKeys: 2 })
  throttle.take('a')
  throttle.take('b')
  throttle.take('a')
  throttle.take('c') // b goes
  t.not(throttle.take('a'), 0)
  t.equal(throttle.take('b'), 0)
  t.equal(throttle.take('b'), 0)
  t.end()
})

test('an attempt that was right is given back', async (t) => {
  const throttle = createThrottle({ limit: 2 })
  throttle.giveBack('alice')
  for (let attempt = 0; attempt < 5; attempt += 1) {
    t.equal(throttle.take('alice'), 0)
    throttle.giveBack('alice')
  }
  throttle.take('alice')
  throttle.take('alice')
  t.not(throttle.take('alice'), 0)
})
