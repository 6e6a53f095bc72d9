import { test } from 'tap'
import { createSignInThrottle, createThrottle, networkOf } from '#src/auth/sign-in.js'

const refusals = (attempts: readonly number[]): number => attempts.filter((wait) => wait > 0).length

test('ten attempts for one account, however the lower half of an IPv6 address changes', (t) => {
  const throttle = createSignInThrottle(() => 0)
  const attempts = Array.from({ length: 15 }, (_, number) =>
    throttle.take('alice', `2001:db8::${number.toString(16)}`),
  )
  t.equal(refusals(attempts), 5)
  t.equal(throttle.take('alice', '2001:db8:0:1::1'), 0)
  t.end()
})

test('a flood of made-up names does not make the throttle forget an account', (t) => {
  const throttle = createSignInThrottle(() => 0)
  for (let attempt = 0; attempt < 10; attempt += 1) throttle.take('alice', '10.0.0.1')
  for (let number = 0; number < 20_000; number += 1) throttle.take(`name-${number}`, '10.0.0.1')
  t.not(throttle.take('alice', '10.0.0.1'), 0)
  t.end()
})

test('one address has a hundred failed attempts for all accounts together; a sign-in between them adds none', (t) => {
  const throttle = createSignInThrottle(() => 0)
  const attempts = Array.from({ length: 120 }, (_, number) => {
    if (throttle.take('mallory', '10.0.0.1') === 0) throttle.reset('mallory', '10.0.0.1')
    return throttle.take(`name-${number}`, '10.0.0.1')
  })
  t.equal(refusals(attempts), 20)
  t.equal(throttle.take('name-1', '10.0.0.2'), 0)
  t.end()
})

test('a network is an IPv4 address or the first half of an IPv6 one, however it is written', (t) => {
  for (const [address, network] of [
    ['10.0.0.1', '10.0.0.1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:0DB8:0000:0000:1:2:3:4', '2001:db8:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['1::', '1:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['not an address', 'not an address'],
  ] as const) {
    t.equal(networkOf(address), network, address)
  }
  t.end()
})

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
