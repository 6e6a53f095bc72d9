/** What the transport on PostgreSQL does beside the contract of all: who fetches, in which order, by which index. */
import { setTimeout as delay } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import pg from 'pg'
import { test, type Test } from 'tap'
import { defineEvent, events, fromPg, modules } from '@fastify-modular/core'
import { pgBoss, type PgBossCommonOptions } from '@fastify-modular/core/events/pg-boss'
import { publishQuietly, type Waker } from '@fastify-modular/core/internal'
import { testDatabase } from '@fastify-modular/test-support/postgres'

class Numbered extends defineEvent('test.numbered', Type.Object({ number: Type.Integer() })) {}

/** Nothing is polled: what arrives, arrives by a notification. */
const unpolled = { pollInterval: 3_600_000, lease: 24 * 3_600_000 }

interface Statement {
  readonly text: string
  readonly params: unknown[]
}

interface Instance {
  readonly app: FastifyInstance
  /** What this instance has sent over its pool, without the connection that listens. */
  readonly statements: Statement[]
  readonly warnings: { readonly msg: string; readonly sql?: string }[]
}

/** Its connections may still be ending when their database is dropped. */
function openPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString })
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** An instance with connections of its own; without `handle` it only publishes. An unpolled one listens already. */
async function startInstance(
  t: Test,
  url: string,
  handle?: (event: Numbered) => unknown,
  options: PgBossCommonOptions = {},
): Promise<Instance> {
  const pool = openPool(url)
  const statements: Statement[] = []
  let looks = 0
  const recorded = {
    connect: () => pool.connect(),
    on: (event: 'error', listener: (error: Error) => void) => pool.on(event, listener),
    end: () => pool.end(),
    async query(text: string, params: unknown[] = []) {
      statements.push({ text, params })
      const result = await pool.query<object>(text, params)
      if (isLook(text)) looks++
      return result
    },
  }
  class NumberedHandler {
    static event = Numbered
    handle(event: Numbered) {
      return handle?.(event)
    }
  }
  const warnings: { msg: string }[] = []
  const write = (line: string) => void warnings.push(JSON.parse(line) as { msg: string })
  const app = Fastify({ logger: { level: 'warn', stream: { write } } })
  t.teardown(async () => {
    await app.close()
    await pool.end()
  })
  const transport = pgBoss({ pool: recorded, closeTimeout: 20, ...options })
  await app.register(events, { transport, handlers: handle ? [NumberedHandler] : [] })
  await app.ready()
  if (options.pollInterval) await until(() => looks === 2) // it looks when it starts and when it listens
  return { app, statements, warnings }
}

async function connect(t: Test, url: string): Promise<pg.Client> {
  const client = new pg.Client(url)
  await client.connect()
  t.teardown(() => client.end())
  return client
}

/** Waits until something is the case, at most 20 seconds. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 20_000; !(await isSo()); await delay(5)) {
    if (Date.now() > end) throw new Error('it was not so within 20 s')
  }
}

/** An event that no instance is told of. */
const silentJob = `
  INSERT INTO pgboss.job (name, data) SELECT name, jsonb_build_object(
    'eventId', 'e1', 'type', 'test.numbered', 'payload', '{"number":1}')
  FROM pgboss.subscription`

const isFetch = ({ text }: Statement) => text.includes('taken AS')
const isLook = (text: string) => text.includes('alive AS')

test('an event costs at most two statements for each handler, and other instances nothing', async (t) => {
  const { url } = await testDatabase(t)
  const client = await connect(t, url)
  let handled = 0
  const instances: Instance[] = []
  for (let count = 0; count < 4; count++)
    instances.push(await startInstance(t, url, () => handled++, unpolled))
  for (const { statements } of instances) statements.length = 0
  const last = instances.at(-1) // it has seen all others
  for (let number = 0; number < 20; number++) {
    await last?.app.events.publish(new Numbered({ number }))
    await until(() => handled === number + 1)
  }
  const finished = async () => (await client.query('SELECT FROM pgboss.job')).rows.length === 0
  await until(finished)
  const statements = instances.flatMap((instance) => instance.statements)
  t.ok(statements.filter(isFetch).length <= 40, 'one that fetches it, one that deletes it')
  t.equal(statements.filter((one) => !isFetch(one)).length, 20, 'and one that publishes it')
})

test('an instance whose slots are taken passes a notification on', async (t) => {
  const { url } = await testDatabase(t)
  const seen: number[] = []
  await startInstance(t, url, ({ number }) => void seen.push(number), unpolled)
  const begun: number[] = []
  const hang = ({ number }: Numbered) => {
    begun.push(number)
    return new Promise(() => {})
  }
  await startInstance(t, url, hang, { ...unpolled, concurrency: 1 })
  const publisher = await startInstance(t, url, undefined, unpolled)
  let published = 0
  while (begun.length === 0) {
    await publisher.app.events.publish(new Numbered({ number: published++ }))
    await until(() => begun.length + seen.length === published)
  }
  for (let more = 0; more < 20; more++)
    await publisher.app.events.publish(new Numbered({ number: published++ }))
  await until(() => seen.length === published - 1)
  t.equal(begun.length, 1)
})

test('an idle instance is told at once of what a busy one publishes, in each of three ways', async (t) => {
  const { url } = await testDatabase(t)
  const client = await connect(t, url)
  const seen: number[] = []
  const begun: number[] = []
  const hang = ({ number }: Numbered) => {
    begun.push(number)
    return new Promise(() => {})
  }
  const idle = await startInstance(t, url, ({ number }) => void seen.push(number), unpolled)
  const busy = await startInstance(t, url, hang, { ...unpolled, concurrency: 1 })
  let published = 0
  const publishOne = async (way: number) => {
    const event = new Numbered({ number: published++ })
    if (way === 0) return busy.app.events.publish(event)
    await client.query('BEGIN')
    if (way === 1) await busy.app.events.publish(event, { tx: fromPg(client) })
    const waker = way === 2 ? await publishQuietly(busy.app.events, event, fromPg(client)) : undefined
    await client.query('COMMIT')
    return waker?.wake()
  }
  while (begun.length === 0) {
    await publishOne(0)
    await until(() => begun.length + seen.length === published)
  }
  idle.statements.length = 0
  for (let count = 0; count < 30; count++) await publishOne(count % 3)
  await until(() => seen.length === published - 1)
  t.equal(begun.length, 1)
})

test('a hundred handlers boot in few round trips, and again in fewer', async (t) => {
  const { url } = await testDatabase(t)
  const handlers = Array.from({ length: 100 }, (_, index) => {
    const name = `Numbered${index}Handler`
    return { [name]: class { static event = Numbered; handle() {} } }[name] as object // prettier-ignore
  })
  /** What one boot sends, one after the other. */
  async function boot(): Promise<readonly string[]> {
    const pool = openPool(url)
    const statements: string[] = []
    const known = new WeakSet<object>()
    const record = <T extends { query: unknown }>(target: T): T => {
      if (known.has(target)) return target // a client that the pool hands out again
      known.add(target)
      const query = target.query as (...args: unknown[]) => unknown
      target.query = (...args: unknown[]) => {
        statements.push(String(args[0]))
        return query.apply(target, args)
      }
      return target
    }
    const recorded = record({
      connect: async () => record(await pool.connect()),
      on: (event: 'error', listener: (error: Error) => void) => pool.on(event, listener),
      end: () => pool.end(),
      query: (text: string, params?: unknown[]) => pool.query<object>(text, params),
    })
    const app = Fastify({ pluginTimeout: 120_000 })
    await app.register(events, { transport: pgBoss({ pool: recorded }) })
    await app.register(modules, { modules: [{ name: 'm', handlers: handlers as never }] })
    const sent = [...statements]
    await app.close()
    await pool.end()
    return sent
  }
  // With round trips of 10 ms the first boot waits 1.5 s for the network, of the 10 s that Fastify gives a plugin.
  t.ok((await boot()).length < 150)
  const again = await boot()
  t.ok(again.length < 30, `${again.length} statements`)
  t.equal(
    again.filter((text) => text.includes('advisory')).length,
    2,
    'two exclusive sections: tables, and all handlers',
  )
})

test('what is woken after the commit is notified in no transaction, at most once for each instance', async (t) => {
  const { url } = await testDatabase(t)
  const client = await connect(t, url)
  let handled = 0
  await startInstance(t, url, () => handled++, unpolled)
  const publisher = await startInstance(t, url, undefined, unpolled)
  publisher.statements.length = 0
  const texts: string[] = []
  const tx = fromPg({
    query(text, params) {
      texts.push(text)
      return client.query<object>(text, params)
    },
  })
  await client.query('BEGIN')
  const wakers: Waker[] = []
  for (let number = 0; number < 100; number++)
    wakers.push(await publishQuietly(publisher.app.events, new Numbered({ number }), tx))
  await client.query('COMMIT')
  t.notOk(texts.some((text) => text.includes('notify')))
  for (const waker of wakers) waker.wake()
  await until(() => handled === 100)
  t.equal(publisher.statements.filter(({ text }) => text.includes('pg_notify')).length, 1)
})

test('an instance that is picked itself wakes without any notification', async (t) => {
  const { url } = await testDatabase(t)
  const client = await connect(t, url)
  let handled = 0
  const { app, statements } = await startInstance(t, url, () => handled++, unpolled)
  await client.query('BEGIN')
  const waker = await publishQuietly(app.events, new Numbered({ number: 1 }), fromPg(client))
  await client.query('COMMIT')
  waker.wake()
  await until(() => handled === 1)
  t.notOk(statements.some(({ text }) => text.includes('pg_notify')))
})

test('what is stored during a look is found by another look, where a notification asks for one', async (t) => {
  const { url } = await testDatabase(t)
  const client = await connect(t, url)
  const blocker = await connect(t, url)
  let handled = 0
  await startInstance(t, url, () => handled++, unpolled)
  await blocker.query('BEGIN')
  await blocker.query('SELECT FROM pgboss.fmod_worker FOR UPDATE')
  await client.query(`SELECT pg_notify('pgboss_events', '')`)
  await until(async () => {
    const { rows } = await client.query(`
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
    return rows.length === 1 // the look has begun, and does not see what is written from now on
  })
  await client.query(silentJob)
  await client.query(`SELECT pg_notify('pgboss_events', '')`)
  await blocker.query('COMMIT')
  await until(() => handled === 1)
})

test('events are fetched several at a time, in the order in which they were published', async (t) => {
  const { url } = await testDatabase(t)
  const client = await connect(t, url)
  const seen: number[] = []
  const { app, statements } = await startInstance(t, url, ({ number }) => void seen.push(number), unpolled)
  statements.length = 0
  await client.query('BEGIN')
  for (let number = 0; number < 100; number++)
    await app.events.publish(new Numbered({ number }), { tx: fromPg(client) })
  await client.query('COMMIT')
  await until(() => seen.length === 100)
  t.same(
    seen,
    Array.from({ length: 100 }, (_, number) => number),
  )
  t.ok(statements.filter(isFetch).length <= 12, 'ten slots, ten events a fetch')
})

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
  await app.events.publish(new Numbered({ number: 1 }), { tx: fromPg(client) })
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

test('a job that no publisher wrote becomes a dead letter at once, and the list names it', async (t) => {
  const { url } = await testDatabase(t)
  const client = await connect(t, url)
  const { app } = await startInstance(t, url, () => {}, unpolled)
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
