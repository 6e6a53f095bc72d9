/** Attempts to sign in are counted in the database, on both engines: every instance knows those of the others. */
import { mock } from 'node:test'
import Fastify, { type FastifyInstance } from 'fastify'
import { test, type Test } from 'tap'
import { addThrottle } from '#src/auth/throttle.js'
import type { Database } from '#src/database/database.js'
import { engines } from '../database/engines.js'

/** An instance whose every attempt is wrong, but with the password "right". */
async function startInstance(t: Test, database: Database): Promise<FastifyInstance> {
  const app = Fastify({ trustProxy: true })
  t.teardown(async () => {
    await app.close()
    await database.close()
  })
  const throttle = await addThrottle(app, database)
  app.post<{ Body: { password?: string } }>('/login', async (request) => {
    await throttle.take(request)
    if (request.body.password === 'right') await throttle.forget(request)
    return {}
  })
  return app
}

for (const [engine, prepare] of Object.entries(engines)) {
  test(`${engine}: attempts to sign in`, async (t) => {
    let time = Date.now() // it stands still: a busy machine may take longer than a minute for the attempts
    t.teardown(() => mock.restoreAll())
    mock.method(Date, 'now', () => time)
    const open = await prepare(t)
    const [one, two] = [await startInstance(t, await open()), await startInstance(t, await open())]
    const attempt = (app: FastifyInstance, username: string, address: string, password = 'wrong') =>
      app.inject({
        method: 'POST',
        url: '/login',
        headers: { 'x-forwarded-for': address },
        payload: { username, password },
      })

    await t.test('ten pass for one account from one network, through whichever instance', async (t) => {
      const made = Array.from({ length: 12 }, (_, number) =>
        attempt(number % 2 ? one : two, 'alice', '10.0.0.1'),
      )
      const statuses = (await Promise.all(made)).map(({ statusCode }) => statusCode)
      t.equal(statuses.filter((status) => status === 429).length, 2)
      const refused = await attempt(one, ' ALICE ', '10.0.0.1', 'right')
      t.equal(refused.statusCode, 429)
      const wait = Number(refused.headers['retry-after'])
      t.ok(wait >= 1 && wait <= 60, `Retry-After: ${wait}`)
      t.equal((await attempt(two, 'alice', '10.0.0.2')).statusCode, 200, 'another network')
      t.equal((await attempt(two, 'bob', '10.0.0.1')).statusCode, 200, 'another account')
    })

    await t.test('the lower half of an IPv6 address buys no further ones', async (t) => {
      const made = Array.from({ length: 12 }, (_, number) => attempt(one, 'alice', `2001:db8::${number + 1}`))
      const statuses = (await Promise.all(made)).map(({ statusCode }) => statusCode)
      t.equal(statuses.filter((status) => status === 429).length, 2)
    })

    await t.test('one that is right makes those before it forgotten', async (t) => {
      for (let round = 0; round < 3; round += 1) {
        for (let count = 0; count < 9; count += 1)
          t.equal((await attempt(one, 'carol', '10.0.0.3')).statusCode, 200)
        t.equal((await attempt(two, 'carol', '10.0.0.3', 'right')).statusCode, 200)
      }
    })

    await t.test('a hundred pass from one network, for all accounts together', async (t) => {
      let passed = 0
      for (let number = 0; number < 110; number += 1)
        if ((await attempt(one, `name-${number}`, '10.0.0.4')).statusCode === 200) passed += 1
      t.equal(passed, 100)
    })

    await t.test('a minute later they pass again', async (t) => {
      time += 61_000
      t.equal((await attempt(one, 'alice', '10.0.0.1')).statusCode, 200)
    })
  })
}
