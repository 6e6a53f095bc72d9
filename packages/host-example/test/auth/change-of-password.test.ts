/** A session belongs to the password that it was started with, on both databases. */
import { sql } from 'drizzle-orm'
import Fastify from 'fastify'
import { Pool } from 'pg'
import { test } from 'tap'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { until } from '@fastify-modular/test-support/until'
import { type AccountStore, createAccountStore } from '#src/auth/accounts.js'
import { hashPassword } from '#src/auth/passwords.js'
import { addSessions, createSessionStore } from '#src/auth/sessions.js'
import { signIn } from '#src/auth/sign-in.js'
import { addThrottle } from '#src/auth/throttle.js'
import type { Database } from '#src/database/database.js'
import { openPostgres } from '#src/database/postgres.js'
import { engines } from '../database/engines.js'

const ada = { name: 'ada', passwordHash: 'old', permissions: [], isAdmin: true, isDemo: false }

const sessionsIn = (database: Database) => database.rows(sql`select * from sessions`)

for (const [engine, prepare] of Object.entries(engines)) {
  test(`${engine}: a change of the password`, async (t) => {
    const database = await (await prepare(t))()
    t.teardown(() => database.close())
    const accounts = createAccountStore(database)
    const sessions = createSessionStore(database)
    await accounts.addIfMissing(ada)

    await t.test('ends the sessions of the account', async (t) => {
      t.equal(await sessions.start('first', ada), true)
      t.match(await sessions.find('first'), { name: 'ada' })
      await accounts.setPassword('ada', 'new')
      t.equal(await sessions.find('first'), null)
      t.match(await accounts.find('ada'), { passwordHash: 'new' })
    })

    await t.test('leaves no way to start one with the old password', async (t) => {
      t.equal(await sessions.start('second', ada), false)
      t.same(await sessionsIn(database), [])
    })

    await t.test('leaves none behind, however it meets a sign-in', async (t) => {
      let current = 'new'
      for (let round = 0; round < 50; round += 1) {
        const next = `${round}`
        const checked = { name: 'ada', passwordHash: current }
        await Promise.all([
          sessions.start(`${round} before`, checked),
          accounts.setPassword('ada', next),
          sessions.start(`${round} after`, checked),
        ])
        t.same(await sessionsIn(database), [], `round ${round}`)
        current = next
      }
    })

    await t.test('refuses a sign-in that was being checked meanwhile like a wrong password', async (t) => {
      await accounts.setPassword('ada', await hashPassword('old password'))
      const meanwhile: AccountStore = {
        ...accounts,
        async find(name) {
          const found = await accounts.find(name)
          await accounts.setPassword(name, await hashPassword('new password'))
          return found
        },
      }
      const app = Fastify()
      t.teardown(() => app.close())
      await addSessions(app, { sessions, secret: 'x'.repeat(32), isSecure: false })
      const throttle = await addThrottle(app, database)
      app.post<{ Body: { username: string; password: string } }>('/login', async (request) => {
        await signIn({ accounts: meanwhile, sessions, throttle }, request)
      })
      const payload = { username: 'ada', password: 'old password' }
      const refused = await app.inject({ method: 'POST', url: '/login', payload })
      t.match(refused, { statusCode: 401, body: /The user name or the password is wrong\./ })
      t.same(refused.cookies, [])
      t.same(await sessionsIn(database), [])
    })

    await t.test('happens together with the end of the sessions, or not at all', async (t) => {
      const before = await accounts.find('ada')
      await database.run(sql`alter table sessions rename to lost`)
      await t.rejects(accounts.setPassword('ada', 'never'))
      await database.run(sql`alter table lost rename to sessions`)
      t.same(await accounts.find('ada'), before)
    })
  })
}

test('PostgreSQL: a sign-in waits for a change of the password that has begun', async (t) => {
  const { url } = await testDatabase(t)
  const database = await openPostgres(url, () => {})
  t.teardown(() => database.close())
  await createAccountStore(database).addIfMissing(ada)
  const other = new Pool({ connectionString: url, max: 2 })
  t.teardown(() => other.end())

  const changing = await other.connect()
  await changing.query('begin')
  await changing.query("update accounts set password_hash = 'new' where name = 'ada'")
  const started = createSessionStore(database).start('a session', ada)
  const isWaiting = async () =>
    (
      await other.query(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      )
    ).rowCount !== 0
  await until(isWaiting)
  await changing.query('commit')
  changing.release()
  t.equal(await started, false)
  t.same(await sessionsIn(database), [])
})
