import pg from 'pg'
import { test, type Test } from 'tap'
import { startFaultyProxy } from '@fastify-modular/test-support/faulty-proxy'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { until } from '@fastify-modular/test-support/until'
import { BoundedConnections, type PostgresTimeouts } from '#src/internal/postgres.js'

function openPool(
  t: Test,
  connectionString: string,
  timeouts: PostgresTimeouts = {},
  sessionTimeouts = true,
) {
  const connections = new BoundedConnections({ timeouts, sessionTimeouts })
  const pool = new pg.Pool({ connectionString, ...connections.poolConfig })
  pool.on('error', () => {})
  t.teardown(() => (pool.ending ? undefined : connections.end(pool)))
  return { connections, pool }
}

const names = [
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'client_connection_check_interval',
  'tcp_keepalives_idle',
  'tcp_keepalives_interval',
  'tcp_keepalives_count',
]

async function settingsOf(pool: pg.Pool): Promise<readonly (string | undefined)[]> {
  const columns = names.map((name) => `current_setting('${name}') AS ${name}`)
  const { rows } = await pool.query<Record<string, string>>(`SELECT ${columns.join(', ')}`)
  return names.map((name) => rows[0]?.[name])
}

test('every session has time-outs on the server too, below those of the client', async (t) => {
  const { url } = await testDatabase(t)
  t.same(await settingsOf(openPool(t, url).pool), ['10s', '5s', '10s', '2s', '10', '2', '3'])
  t.same((await settingsOf(openPool(t, url, { query: 3000 }).pool)).slice(0, 3), ['2s', '1s', '2s'])
})

test('a statement that takes too long is ended by the server', async (t) => {
  const { url } = await testDatabase(t)
  const { pool } = openPool(t, url, { query: 3000 })
  pool.options.query_timeout = 120_000 // on a machine that stands still meanwhile the client would be first
  await t.rejects(pool.query('SELECT pg_sleep(60)'), { code: '57014' })
})

test('sessions that a pooler shares are left as they are', async (t) => {
  const { url } = await testDatabase(t)
  const { pool } = openPool(t, url, {}, false)
  t.same((await settingsOf(pool)).slice(0, 4), ['0', '0', '0', '0'])
})

test('a statement on a connection that went silent is rejected, and the next one gets another connection', async (t) => {
  const { url } = await testDatabase(t)
  const proxy = await startFaultyProxy(url)
  t.teardown(() => proxy.close())
  const { pool } = openPool(t, proxy.url, { query: 3000, close: 100 })
  await pool.query('SELECT 1')
  proxy.applyToOpen('silent')
  await t.rejects(pool.query('SELECT 1'), { message: 'Query read timeout' })
  t.same((await pool.query('SELECT 1 AS up')).rows, [{ up: 1 }])
})

test('a server that accepts and never answers causes a time-out', async (t) => {
  const { url } = await testDatabase(t)
  const proxy = await startFaultyProxy(url)
  t.teardown(() => proxy.close())
  proxy.applyToNew('silent')
  const { pool } = openPool(t, proxy.url, { connect: 100 })
  await t.rejects(pool.query('SELECT 1'), { message: /timeout/ })
})

test('the end of a pool cuts off what does not end: idle and busy connections alike', async (t) => {
  const { url } = await testDatabase(t)
  const proxy = await startFaultyProxy(url)
  t.teardown(() => proxy.close())
  const { connections, pool } = openPool(t, proxy.url, { close: 100 })
  const clients: pg.PoolClient[] = []
  pool.on('connect', (client) => clients.push(client))
  const busy = await pool.connect()
  busy.on('error', () => {})
  await pool.query('SELECT 1')
  proxy.apply('silent')
  const hanging = t.rejects(busy.query('SELECT 1'))
  await connections.end(pool)
  t.same(
    clients.map(({ connection }) => connection.stream.destroyed),
    [true, true],
  )
  await hanging
})

for (const fault of ['reset', 'silent'] as const) {
  test(`a new connection lost while its time-outs are set (${fault}) rejects what waits for it, and does nothing else`, async (t) => {
    const { url } = await testDatabase(t)
    const proxy = await startFaultyProxy(url)
    t.teardown(() => proxy.close())
    proxy.applyToNew({ delay: 50 }) // the fault comes before the answer
    const { connections, pool } = openPool(t, proxy.url, { close: 100 })
    const rejected = t.rejects(pool.query('SELECT 1'))
    await until(() => proxy.connections.some((connection) => connection.hasSent('set_config')))
    proxy.apply(fault)
    if (fault === 'silent') await connections.end(pool)
    await rejected
    t.equal(pool.totalCount, 0)
  })
}
