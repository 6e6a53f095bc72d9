import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { Client } from 'pg'
import { type Test, test } from 'tap'
import { startFaultyProxy } from '@fastify-modular/test-support/faulty-proxy'
import { listen } from '@fastify-modular/test-support/free-port'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { until } from '@fastify-modular/test-support/until'

/** A server that keeps what it receives and answers `ping` with `pong`, and a proxy in front of it. */
async function startEcho(t: Test) {
  const sockets: Socket[] = []
  const received: string[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {}) // a reset
    socket.on('data', (chunk) => {
      received.push(chunk.toString())
      socket.write('pong')
    })
  })
  const proxy = await startFaultyProxy(`tcp://127.0.0.1:${await listen(server)}`)
  t.teardown(async () => {
    await proxy.close()
    server.close()
  })
  const open = async () => {
    const socket = connect(proxy.port, '127.0.0.1')
    t.teardown(() => socket.destroy())
    await once(socket, 'connect')
    return socket
  }
  const ping = async (socket: Socket) => {
    socket.write('ping')
    const [answer] = await once(socket, 'data')
    return String(answer)
  }
  return { proxy, open, ping, received, sockets }
}

async function openClient(t: Test, connectionString: string): Promise<Client> {
  const client = new Client({ connectionString, connectionTimeoutMillis: 60_000 })
  client.on('error', () => {})
  await client.connect()
  t.teardown(() => client.end())
  return client
}

test('without a fault both directions and the ends of connections pass', async (t) => {
  const { proxy, open, ping, sockets } = await startEcho(t)
  const one = await open()
  t.equal(await ping(one), 'pong')
  const two = await open()
  t.equal(await ping(two), 'pong')
  t.equal(proxy.accepted, 2)
  t.same(
    proxy.connections.map((connection) => connection.hasSent('ping')),
    [true, true],
  )
  const ended = once(sockets[0] ?? one, 'end')
  one.end()
  await ended
  await once(one, 'close')
  t.equal(proxy.connections.length, 1, 'a closed connection is not listed')
  const closed = once(two, 'close')
  sockets[1]?.destroy()
  await closed
})

test('a reset reaches both sides, of one connection, of all open ones, and of new ones', async (t) => {
  const { proxy, open, ping, sockets } = await startEcho(t)
  const one = await open()
  await ping(one)
  const two = await open()
  await ping(two)
  const gone = Promise.all([one, sockets[0] ?? two].map((socket) => once(socket, 'error')))
  proxy.connections[0]?.apply('reset')
  t.match(await gone, [[{ code: 'ECONNRESET' }], [{ code: 'ECONNRESET' }]])
  t.equal(await ping(two), 'pong', 'the other one goes on')
  const secondGone = once(two, 'error')
  proxy.applyToOpen('reset')
  t.match(await secondGone, [{ code: 'ECONNRESET' }])
  proxy.applyToNew('reset')
  const refused = connect(proxy.port, '127.0.0.1')
  t.match(await once(refused, 'error'), [{ code: 'ECONNRESET' }])
  proxy.applyToNew('none')
  t.equal(await ping(await open()), 'pong')
})

test('a silent connection takes bytes, answers nothing and hides that the other side has closed', async (t) => {
  const { proxy, open, ping, received, sockets } = await startEcho(t)
  const lost = await open()
  await ping(lost)
  proxy.applyToOpen('silent')
  const answers: unknown[] = []
  for (const event of ['data', 'end', 'close', 'error'])
    lost.on(event, (detail) => answers.push([event, detail]))
  await new Promise((resolve) => lost.write('x'.repeat(1_000_000), resolve))
  lost.end('bye')
  sockets[0]?.end('a late answer')
  proxy.applyToOpen('none')
  t.equal(await ping(await open()), 'pong', 'a new connection passes')
  t.same(answers, [], 'and the lost one stays lost')
  t.same(received, ['ping', 'ping'])
  t.equal(sockets[0]?.destroyed, false)
  t.equal(proxy.connections.length, 1, 'what the client has closed is not listed')
})

test('a delay holds back each direction, and bytes stay in order', async (t) => {
  const { proxy, open } = await startEcho(t)
  proxy.apply({ delay: 50 })
  const socket = await open()
  const startedAt = performance.now()
  socket.write('ping')
  await once(socket, 'data')
  t.ok(performance.now() - startedAt >= 98, 'there and back')
})

test('PostgreSQL: notifications are dropped, and come again, while queries are answered', async (t) => {
  const database = await testDatabase(t)
  const proxy = await startFaultyProxy(database.url)
  t.teardown(() => proxy.close())
  const listening = await openClient(t, proxy.url)
  const heard: unknown[] = []
  listening.on('notification', ({ payload }) => heard.push(payload))
  await listening.query('LISTEN news')
  const notifying = await openClient(t, database.url)
  /** The server sends what waits for a connection before the answer to its next statement. */
  const notify = async (payload: string) => {
    await notifying.query(`SELECT pg_notify('news', $1)`, [payload])
    await listening.query('SELECT 1')
  }
  await notify('one')
  proxy.connections.find((connection) => connection.hasSent('LISTEN news'))?.apply('no-notifications')
  await notify('two')
  await notify('x'.repeat(7000))
  proxy.apply('none')
  await notify('three')
  t.same(heard, ['one', 'three'])
  const { rows } = await listening.query<{ text: string }>(`SELECT repeat('AZ', 100000) AS text`)
  t.equal(rows[0]?.text.length, 200_000, 'large answers arrive whole')
})

test('a reset closes connections whose end is on its way, too', async (t) => {
  const handles = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length
  const { proxy, open, ping } = await startEcho(t)
  const resets = createServer((socket) => socket.on('data', () => proxy.applyToOpen('reset')))
  t.teardown(() => resets.close())
  const trigger = connect(await listen(resets), '127.0.0.1')
  t.teardown(() => trigger.destroy())
  await once(trigger, 'connect')
  const client = await open()
  client.on('error', () => {}) // `close` follows
  await ping(client)
  const before = handles()
  const closed = new Promise((resolve) => client.once('close', resolve))
  client.end(() => trigger.write('now')) // both arrive in one look at the network, the end first
  await closed
  // The client, the server and both sides of the proxy: one left would keep the process.
  await until(() => handles() === before - 4)
})
