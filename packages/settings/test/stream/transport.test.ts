/** How a stream of settings behaves as an answer of HTTP: beginning, end, protocols, hooks. */
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { settings, SettingScope } from '@fastify-modular/settings'
import { openConnection, rawRequest } from '@fastify-modular/test-support/raw-http'
import { until } from '@fastify-modular/test-support/until'
import Fastify, { type FastifyInstance } from 'fastify'
import { test } from 'tap'
import { createApp, definitions } from '../support/app.ts'
import { certificate } from '../support/certificate.ts'
import { readStream, start, withHooks } from '../support/reader.ts'

const { Application } = SettingScope

function addressOf(app: FastifyInstance): { port: number } {
  return { port: (app.server.address() as AddressInfo).port }
}

for (const version of ['1.0', '1.1']) {
  test(`over HTTP/${version} a stream is an answer without chunks that ends with its connection`, async (t) => {
    const app = await start(t)
    const connection = await openConnection(addressOf(app))
    connection.send(`GET /api/settings/stream HTTP/${version}\r\nhost: localhost\r\nx-caller: bob\r\n\r\n`)
    const stream = await readStream(app, { headers: { 'x-caller': 'bob' } })
    await stream.next('own')
    app.settings.endStreams('bob')
    const [head = '', body] = String(await connection.closed()).split('\r\n\r\n')
    t.match(head, /^HTTP\/1.1 200 OK\r\n/)
    t.match(head, /\r\nconnection: close\b/)
    t.notMatch(head, /transfer-encoding/i)
    t.equal(body, await stream.ended())
    t.match(
      body,
      /^id: 0-[0-9a-f]{8}-[0-9a-f]{8}\nevent: snapshot\ndata: \[.*\]\n\nevent: own\ndata: {}\n\n$/,
    )
  })
}

test('HEAD has no stream', async (t) => {
  const app = await start(t)
  t.not(
    (await rawRequest(addressOf(app), { method: 'HEAD', target: '/api/settings/public/stream' })).status,
    200,
  )
})

test('headers that earlier hooks set are sent, and hooks of an answer do not run', async (t) => {
  const app = await withHooks(t, (host) => {
    host.addHook('onRequest', async (_request, reply) => {
      reply.header('x-frame-options', 'DENY').header('set-cookie', ['a=1', 'b=2'])
    })
    host.addHook('onSend', async () => t.fail('a session would be saved here'))
  })
  const stream = await readStream(app)
  t.match(stream.headers, { 'x-frame-options': 'DENY', 'set-cookie': ['a=1', 'b=2'] })
})

test('a failure before the head is a problem, and takes no place', async (t) => {
  const app = await withHooks(t, (host) => {
    host.addHook('onRequest', async ({ headers }, { raw }) => {
      if (headers['x-fail'] === undefined) return
      raw.flushHeaders = () => {
        throw new Error('boom')
      }
      const { writeHead } = raw
      raw.writeHead = () => {
        raw.writeHead = writeHead
        throw new Error('boom')
      }
    })
  })
  const failed = await readStream(app, { headers: { 'x-fail': '1' } })
  t.match(failed, { status: 500, headers: { 'content-type': /^application\/problem\+json/ } })
  t.match(await failed.ended(), /"status":500/)
  t.match(await readStream(app), { status: 200 })
})

test('the socket of a stream has no time-out', async (t) => {
  const sockets: Socket[] = []
  const app = await withHooks(
    t,
    (host) => void host.server.on('connection', (socket: Socket) => sockets.push(socket)),
    {
      connectionTimeout: 30_000,
    },
  )
  await (await readStream(app)).next('own')
  t.equal(sockets[0]?.timeout, 0)
})

test('closing the application ends streams with a time to wait, and refuses new ones', async (t) => {
  let enter = (): void => {}
  let go = (): void => {}
  const entered = new Promise<void>((resolve) => (enter = resolve))
  const gate = new Promise<void>((resolve) => (go = resolve))
  const app = await withHooks(t, (host) => {
    host.addHook('onRequest', async ({ headers }) => {
      if (headers['x-slow'] === undefined) return
      enter()
      await gate
    })
  })
  const stream = await readStream(app)
  await stream.next('own')
  const late = readStream(app, { headers: { 'x-slow': '1' } })
  await entered
  const closed = app.close()
  t.match(await stream.ended(), /\n\nretry: 1000\n\n$/)
  go()
  t.match(await late, { status: 503, headers: { connection: 'close', 'retry-after': '1' } })
  await closed
})

test('closing the application does not wait for a client that does not read', async (t) => {
  const app = await start(t)
  const connection = await openConnection(addressOf(app))
  t.teardown(() => connection.destroy())
  connection.send('GET /api/settings/public/stream HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await (await readStream(app)).next('own')
  await app.close()
  t.match(String(await connection.closed()), /retry: 1000\n\n$/)
})

test('a stream that waits for another one on its connection is forgotten with it', async (t) => {
  const app = await start(t)
  const request = 'GET /api/settings/stream HTTP/1.1\r\nhost: localhost\r\nx-caller: alice\r\n\r\n'
  const connection = await openConnection(addressOf(app))
  connection.send(request.repeat(8)) // as many as a caller may have
  await until(async () => (await readStream(app)).text.length >= 0)
  connection.destroy()
  const streams = await Promise.all(Array.from({ length: 8 }, async () => readStream(app)))
  for (const stream of streams) await stream.next('own')
  await app.settings.contract.setSetting('app.title', 'Acme', Application)
  for (const stream of streams) t.match((await stream.next('change')).data, [{ value: 'Acme' }])
})

test('streams that wait for one on their connection are no leak of listeners', async (t) => {
  const warnings: Error[] = []
  const keep = (warning: Error): void => void warnings.push(warning)
  process.on('warning', keep)
  t.teardown(() => process.off('warning', keep))
  const app = await start(t)
  const connection = await openConnection(addressOf(app))
  t.teardown(() => connection.destroy())
  connection.send('GET /api/settings/public/stream HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(32))
  await until(async () => (await readStream(app, { path: '/public/stream' })).status === 429)
  t.same(warnings, [])
})

const { key, cert } = certificate
const servers = {
  'HTTP/2': { http2: true },
  'HTTP/2 with TLS': { http2: true, https: { key, cert, allowHTTP1: true } },
} as const

for (const [name, options] of Object.entries(servers)) {
  test(`${name} has the same events, several on one connection`, async (t) => {
    const app = Fastify(options as object)
    t.teardown(() => app.close())
    await app.register(settings, { definitions: [definitions], findCaller: () => ({ id: 'alice' }) })
    const client = connectHttp2(await app.listen({ port: 0, host: '127.0.0.1' }), { ca: cert })
    t.teardown(() => client.destroy())
    const texts = ['', '']
    for (const [index, path] of ['/stream', '/public/stream'].entries()) {
      const stream = client.request({ ':path': `/api/settings${path}` })
      stream.setEncoding('utf8').on('data', (chunk: string) => (texts[index] += chunk))
      const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
      t.match(headers, { ':status': 200, 'content-type': /event-stream/ })
    }
    await until(() => texts.every((text) => text.includes('snapshot')))
    await app.settings.contract.setSetting('app.primary_color', '#000000', Application)
    await until(() => texts.every((text) => text.includes('"#000000"')))
    const closed = app.close()
    await until(() => texts.every((text) => text.endsWith('retry: 1000\n\n')))
    client.close() // Node closes a server with HTTP/2 when its clients have left
    await closed
  })
}

test('HTTP/2: streams that have ended make room for others of their address', async (t) => {
  const app = Fastify({ http2: true })
  t.teardown(() => app.close())
  await app.register(settings, { definitions: [definitions] })
  const client = connectHttp2(await app.listen({ port: 0, host: '127.0.0.1' }))
  t.teardown(() => client.destroy())
  for (let count = 0; count < 40; count++) {
    const stream = client.request({ ':path': '/api/settings/public/stream' })
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
    t.equal(headers[':status'], 200)
    stream.resume().close() // with unread data it would not close
    await once(stream, 'close')
  }
})

for (const options of [{ https: { key, cert } }, servers['HTTP/2 with TLS']]) {
  test(`HTTP/1.1 with TLS has the same bytes${'http2' in options ? ', beside HTTP/2' : ''}`, async (t) => {
    const app = Fastify(options as object)
    t.teardown(() => app.close())
    await app.register(settings, { definitions: [definitions], findCaller: () => ({ id: 'alice' }) })
    await app.listen({ port: 0, host: '127.0.0.1' })
    const connection = connectTls({ ...addressOf(app), ca: cert, ALPNProtocols: ['http/1.1'] })
    let text = ''
    connection.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    connection.write('GET /api/settings/stream HTTP/1.1\r\nhost: localhost\r\n\r\n')
    await until(() => text.includes('event: own'))
    await app.settings.contract.setSetting('app.title', 'Acme', Application)
    await until(() => text.includes('"Acme"'))
    app.settings.endStreams('alice')
    await once(connection, 'end')
    t.match(text, /^HTTP\/1.1 200 OK\r\n/)
    t.notMatch(text, /transfer-encoding/i)
    const [, body] = text.split('\r\n\r\n')
    t.match(
      body,
      /^id: 0-.*\nevent: snapshot\ndata: \[.*\]\n\nevent: own\ndata: {}\n\nid: 1-.*\nevent: change\ndata: .*\n\n$/,
    )
  })
}

test('inject has a stream, too', async (t) => {
  const app = await createApp(t)
  const answer = await app.inject({ url: '/api/settings/public/stream', payloadAsStream: true })
  const [chunk] = (await once(answer.stream(), 'data')) as [Buffer]
  t.match(String(chunk), /event: snapshot/)
})
