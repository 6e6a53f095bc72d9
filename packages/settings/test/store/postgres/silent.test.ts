/** A network loses the connections and reports it to neither side. */
import { startFaultyProxy } from '@fastify-modular/test-support/faulty-proxy'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { Pool } from 'pg'
import t, { type Test, test } from 'tap'
import { revisionOf, set, silentLog, until } from '../../contract/case.ts'
import type { StorePort, StoreWatch } from '#src/store/store.js'
import { failureOf, is503 } from '../failures.js'
import { postgres } from '../../support/stores.js'

t.setTimeout(900_000)

const timeouts = { connect: 2000, query: 4000, probe: 200, close: 1000 }

async function startProxy(t: Test) {
  const { url } = await testDatabase(t)
  const proxy = await startFaultyProxy(url)
  t.teardown(() => proxy.close())
  return { proxy, url }
}

const unwatched: StoreWatch = { onHint: () => {}, onOwners: () => {}, onLost: () => {} }

/** Tries again where these short time-outs are too short for a busy machine. */
async function openStore(t: Test, ...[source, options]: Parameters<typeof postgres>): Promise<StorePort> {
  for (let tries = 1; ; tries++) {
    const store = postgres(source, { timeouts, ...options })
    t.teardown(() => store.close())
    const failure = await failureOf(store.open({ log: silentLog }))
    if (failure === null) return store
    if (!is503(failure) || tries === 20) throw failure
  }
}

async function written(store: StorePort, value: string): Promise<void> {
  await until('a write', async () => (await failureOf(set(store, 'a', value))) === null)
}

test('after all connections went silent once, writes work and changes of others are noticed again', async (t) => {
  const { proxy, url } = await startProxy(t)
  const store = await openStore(t, { connectionString: proxy.url })
  const other = await openStore(t, { connectionString: url }, { timeouts: {} })
  const received: (number | undefined)[] = []
  const losses: unknown[] = []
  const stop = await store.watch?.({
    onHint: (hint) => received.push(hint?.revision),
    onOwners: () => {},
    onLost: (error) => losses.push(error),
  })
  await written(store, '1')
  const hints = () => received.filter((revision) => revision === undefined).length
  await until('the hint of the connection that listens', () => hints() > 0)
  const before = hints()
  proxy.applyToOpen('silent')
  await written(store, '2')
  await until('the loss of the connection that listens', () => losses.length > 0)
  t.ok(is503(losses[0]))
  await until('the hint of another one', () => hints() > before)
  // Once more where the connection that listens was replaced meanwhile: a busy machine may not answer it in time.
  const changes = new Set<number | undefined>()
  await until('a change of the other one', async () => {
    changes.add((await set(other, 'a', String(changes.size + 3))).revision)
    return received.some((revision) => changes.has(revision))
  })
  await stop?.()
})

test('while nothing answers, calls fail with 503 instead of hanging, and the store closes', async (t) => {
  const { proxy } = await startProxy(t)
  const store = await openStore(t, { connectionString: proxy.url })
  const stop = await store.watch?.(unwatched)
  await written(store, '1')
  proxy.apply('silent')
  t.ok(is503(await failureOf(revisionOf(store))))
  t.ok(is503(await failureOf(set(store, 'a', '2'))))
  await stop?.()
  await store.close()
  await until('all connections to be closed', () => proxy.connections.length === 0)
})

test('the connection that listens beside a pool without time-outs has its own', async (t) => {
  const { proxy } = await startProxy(t)
  const pool = new Pool({ connectionString: proxy.url })
  pool.on('error', () => {})
  t.teardown(() => pool.end())
  const store = await openStore(t, { pool })
  const losses: unknown[] = []
  const stop = await store.watch?.({ ...unwatched, onLost: (error) => losses.push(error) })
  const listening = () => proxy.connections.filter((connection) => connection.hasSent('LISTEN "'))
  listening()[0]?.apply('silent')
  await until('the loss', () => losses.length > 0)
  await until('another one', () => listening().length === 1)
  await stop?.()
})

for (const fault of ['silent', { delay: 200 }] as const) {
  test(`a store that closes while its listener connects again ends (${JSON.stringify(fault)})`, async (t) => {
    const { proxy } = await startProxy(t)
    const store = postgres({ connectionString: proxy.url }) // connecting may take 5 s
    await store.open({ log: silentLog })
    await store.watch?.(unwatched)
    proxy.applyToNew(fault)
    const { accepted } = proxy
    proxy.applyToOpen('reset')
    await until('another attempt', () => proxy.accepted > accepted)
    await store.close()
    await until('all connections to be closed', () => proxy.connections.length === 0)
  })
}

test('a write that got no answer gives its connection back without asking it for more', async (t) => {
  const { proxy } = await startProxy(t)
  const pool = new Pool({ connectionString: proxy.url, max: 1, query_timeout: 4000 })
  pool.on('error', () => {})
  t.teardown(() => pool.end())
  let statementsOfLast = (): unknown[] => []
  pool.on('connect', (client) => {
    const calls = t.capture(client, 'query', client.query)
    statementsOfLast = () => calls().map(({ args }) => args[0])
  })
  const store = await openStore(t, { pool })
  await written(store, '1')
  const statements = statementsOfLast
  await until('its notice', () => statements().some((text) => String(text).includes('pg_notify')))
  await until('the answer', () => pool.idleCount === 1)
  proxy.applyToOpen('silent')
  t.ok(is503(await failureOf(set(store, 'a', '2'))))
  const unanswered = statements()
  t.match(unanswered, [{ text: /^begin/ }])
  t.equal(unanswered.length, 1)
  await written(store, '3')
})

test('a write waits for the lock of another one a third of the time-out of a statement', async (t) => {
  const { url } = await testDatabase(t)
  const query = 9000 // a machine that stands still for the other two thirds would be answered by the client
  const pool = new Pool({ connectionString: url, query_timeout: query })
  pool.on('error', () => {})
  t.teardown(() => pool.end())
  for (const source of [{ connectionString: url }, { pool }]) {
    const store = postgres(source, { timeouts: { query } })
    await store.open({ log: silentLog })
    t.teardown(() => store.close())
    const other = await pool.connect()
    await other.query('begin')
    await other.query('select * from settings_meta for update')
    t.match(await failureOf(set(store, 'a', '1')), { cause: { code: '55P03' } })
    await other.query('rollback')
    other.release()
  }
})
