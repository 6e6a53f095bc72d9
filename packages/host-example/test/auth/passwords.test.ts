import { test } from 'tap'
import { hashOfNobody, hashPassword, verifyPassword } from '#src/auth/passwords.js'

test('a password is known by its hash, which is salted', async (t) => {
  const [one, two] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')])
  t.not(one, two)
  t.match(one, /^scrypt\$16384\$8\$5\$[\w-]{22}\$[\w-]{43}$/)
  t.notMatch(one, /correct/)
  t.equal(await verifyPassword('correct horse', one), true)
  t.equal(await verifyPassword('correct horsf', one), false)
})

test('an unknown account costs a hash of the same cost and is never right', async (t) => {
  const [, N, r, p] = (await hashOfNobody()).split('$')
  t.same([N, r, p], (await hashPassword('x')).split('$').slice(1, 4))
  t.equal(await verifyPassword('', undefined), false)
  const known = await hashPassword('x')
  const cpu = async (stored: string | undefined) => {
    const before = process.cpuUsage()
    await verifyPassword('y', stored)
    return process.cpuUsage(before).user
  }
  const times: { readonly unknown: number; readonly known: number }[] = []
  for (let round = 0; round < 5; round++)
    times.push({ unknown: await cpu(undefined), known: await cpu(known) })
  const least = (of: 'unknown' | 'known') => Math.min(...times.map((time) => time[of]))
  const ratio = least('unknown') / least('known') // what else runs only adds to a time
  t.ok(ratio > 0.4 && ratio < 2.5, `an unknown account took ${ratio.toFixed(2)} of the time of a known one`)
})

test('a flood of attempts is turned away instead of keeping the threads from everything else', async (t) => {
  const attempts = Array.from({ length: 40 }, () =>
    verifyPassword('x', 'scrypt$2$1$1$AAAA$AAAA').catch((error) => error.code),
  )
  const codes = await Promise.all(attempts)
  t.equal(codes.filter((code) => code === 'TOO_MANY_REQUESTS').length, 8)
})
