/** What the transport on PostgreSQL stores beside the contract of all: indexes, dead letters, roles, and what others wrote. */
import { test } from 'tap'
import { pgTx } from '@fastify-modular/core'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { until } from '@fastify-modular/test-support/until'
import {
  Numbered,
  unpolled,
  type Statement,
  startInstance,
  connect,
  isFetch,
  isLook,
} from './pg-boss-instances.ts'

test('fetching and renewing use indexes, however much waits or runs', async (t) => {
  const { url } = await testDatabase(t)
  const client = await connect(t, url)
  const { app, statements } = await startInstance(t, url, () => {}, unpolled)
  await app.events.publish(new Numbered({ number: 1 }))
  await until(() => statements.some(isFetch))
  await client.query(`
    INSERT INTO pgboss.job (name, data, state, started_on, start_after)
    SELECT 'events.app.NumberedHandler', '{}', (CASE WHEN n % 10 = 0 THEN 'active' ELSE 'created' END)::pgboss.job_state,
      now(), now() + (n - 100) * interval '1 s' FROM generate_series(1, 30000) AS n`)
  await client.query('ANALYZE pgboss.job')
  const explain = async (statement: Statement | undefined) => {
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN ${statement?.text}`,
      statement?.params,
    )
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  }
  const fetching = await explain(statements.find(isFetch))
  t.match(fetching, /Index (?:Only )?Scan using \w+_i5/)
  const beating = await explain(statements.find(({ text }) => isLook(text)))
  t.match(beating, /Index (?:Only )?Scan using \w+_started_on_idx/, 'leases')
  t.match(beating, /Index (?:Only )?Scan using \w+_i5/, 'what is due')
  const { rows } = await client.query<{ name: string }>(
    `SELECT partition_name AS name FROM pgboss.queue WHERE name LIKE '%NumberedHandler'`,
  )
  for (const plan of [fetching, beating]) t.notMatch(plan, `Seq Scan on ${rows[0]?.name}`)
})

test('dead letters are listed by an index, the oldest first', async (t) => {
  const { url } = await testDatabase(t)
  const client = await connect(t, url)
  const { app, statements } = await startInstance(t, url, () => {}, unpolled)
  await client.query(`
    INSERT INTO pgboss.job (name, data, start_after)
    SELECT 'events.dead-letters', jsonb_build_object('eventId', n::text), now() - n * interval '1 s'
    FROM generate_series(1, 30000) AS n`)
  await client.query('ANALYZE pgboss.job')
  const letters = await app.events.deadLetters?.list(3)
  t.same(
    letters?.map(({ eventId }) => eventId),
    ['30000', '29999', '29998'],
  )
  const list = statements.find(({ text }) => text.includes('"failedAt"'))
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${list?.text}`, list?.params)
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  t.match(plan, /Index (?:Only )?Scan using \w+_i5/)
  t.notMatch(plan, /Seq Scan/)
})

test('an attempt may take longer than a day', async (t) => {
  const { url } = await testDatabase(t)
  let handled = 0
  const { app } = await startInstance(t, url, () => handled++, { attemptTimeout: 7 * 24 * 3_600_000 })
  await app.events.publish(new Numbered({ number: 1 }))
  await until(() => handled === 1)
})

test('events and dead letters wait ten years', async (t) => {
  const { url } = await testDatabase(t)
  const client = await connect(t, url)
  const fail = () => {
    throw new Error('always')
  }
  const { app } = await startInstance(t, url, fail, { maxAttempts: 1 })
  const kept = async () => {
    const { rows } = await client.query<{ name: string; years: number }>(
      'SELECT name, extract(year FROM age(keep_until, now()))::integer AS years FROM pgboss.job',
    )
    return rows
  }
  await client.query('BEGIN')
  await app.events.publish(new Numbered({ number: 1 }), { tx: pgTx(client) })
  t.match(await kept(), [{ name: 'events.app.NumberedHandler', years: /^(?:9|10)$/ }])
  await client.query('COMMIT')
  await until(async () => (await kept())[0]?.name === 'events.dead-letters')
  t.match(await kept(), [{ years: /^(?:9|10)$/ }])
})

test('a role that does not own the queue cannot make the index: the log has the statement, and events flow', async (t) => {
  const { url } = await testDatabase(t)
  const owner = await connect(t, url)
  await (await startInstance(t, url, () => {})).app.close()
  const role = `limited_${new URL(url).pathname.slice(1)}`
  await owner.query(`
    CREATE ROLE ${role} LOGIN PASSWORD 'limited';
    GRANT USAGE ON SCHEMA pgboss TO ${role};
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA pgboss TO ${role};
    DROP INDEX pgboss.fmod_job_active`)
  const limited = Object.assign(new URL(url), { username: role, password: 'limited' }).href
  let handled = 0
  const { app, warnings } = await startInstance(t, limited, () => handled++)
  t.match(warnings, [{ sql: /^CREATE INDEX IF NOT EXISTS fmod_job_active ON pgboss\.job/ }])
  t.equal(warnings.length, 1)
  await app.events.publish(new Numbered({ number: 1 }))
  await until(() => handled === 1)
  await app.close()
  await owner.query(warnings[0]?.sql ?? '')
  t.same((await startInstance(t, limited, () => {})).warnings, [])
  t.teardown(() => owner.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`))
})

test('an error that PostgreSQL cannot store as it is becomes a dead letter, too', async (t) => {
  const { url } = await testDatabase(t)
  const fail = () => {
    throw new Error('a\0b')
  }
  const { app } = await startInstance(t, url, fail, { maxAttempts: 2, retryDelay: 1 })
  await app.events.publish(new Numbered({ number: 1 }))
  await until(async () => (await app.events.deadLetters?.list())?.length === 1)
  t.match(await app.events.deadLetters?.list(), [{ error: 'Error: ab', attempts: 2 }])
})

test('a job that no publisher wrote becomes a dead letter, and the list names it', async (t) => {
  const { url } = await testDatabase(t)
  const client = await connect(t, url)
  const { app } = await startInstance(t, url, () => {}, { ...unpolled, maxAttempts: 1 })
  const written = ['null', '5', '[]', '{}', '{"type":7,"eventId":8,"handler":9}']
  for (const data of [null, ...written])
    await client.query(`INSERT INTO pgboss.job (name, data) VALUES ('events.app.NumberedHandler', $1)`, [
      data,
    ])
  await client.query(`SELECT pg_notify('pgboss_events', '')`)
  const list = async () => (await app.events.deadLetters?.list()) ?? []
  await until(async () => (await list()).length === 6)
  const described = (await list()).map(({ eventId, type, handler, attempts }) => ({
    eventId,
    type,
    handler,
    attempts,
  }))
  const known = { handler: 'app.NumberedHandler', attempts: 1 }
  t.same(
    described.toSorted((a, b) => a.type.localeCompare(b.type)),
    [
      ...Array.from({ length: 5 }, () => ({ ...known, eventId: '', type: '' })),
      { ...known, eventId: '8', type: '7' },
    ],
  )
  for (const { id } of await list()) t.equal(await app.events.deadLetters?.replay(id), true)
  await until(async () => app.events.stats().deadLettered === 12 && (await list()).length === 6)
  await client.query(`INSERT INTO pgboss.job (name, data) VALUES ('events.dead-letters', NULL)`)
  for (const { id } of await list()) t.equal(await app.events.deadLetters?.discard(id), true)
  t.same(await list(), [])
})

test('what a killed instance of a removed handler held is listed, and can be unsubscribed', async (t) => {
  const { url } = await testDatabase(t)
  const client = await connect(t, url)
  const before = await startInstance(t, url, () => {})
  await before.app.close()
  const { app } = await startInstance(t, url, undefined, { lease: 60_000 })
  await app.events.publish(new Numbered({ number: 1 }))
  const hold = (since: string) =>
    client.query(
      `UPDATE pgboss.job SET state = 'active', singleton_key = 'killed', started_on = now() - interval '${since}'`,
    )
  const { removedHandlers } = app.events
  const handler = 'app.NumberedHandler'
  await hold('1 s')
  t.same(await removedHandlers?.list(), [{ handler, waiting: 0 }], 'it may run still')
  await hold('2 min')
  t.same(await removedHandlers?.list(), [{ handler, waiting: 1 }])
  t.equal(await removedHandlers?.unsubscribe(handler), true)
  t.equal((await client.query('SELECT FROM pgboss.job')).rowCount, 0)
})
