import { createServer } from 'node:net'
import { test } from 'tap'
import { listen } from '@fastify-modular/test-support/free-port'
import { openConnection, rawExchange, rawRequest, requestBytes } from '@fastify-modular/test-support/raw-http'

/** A server that answers every connection with fixed bytes and keeps what it was sent. */
async function serve(t: { teardown(end: () => void): unknown }, answer: string, close = false) {
  const seen: string[] = []
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      seen.push(chunk.toString('latin1'))
      if (close) socket.end(answer, 'latin1')
      else socket.write(answer, 'latin1')
    })
  })
  t.teardown(() => server.close())
  return { port: await listen(server), seen }
}

test('a target travels as it is written', async (t) => {
  const server = await serve(t, 'HTTP/1.1 204 No Content\r\n\r\n')
  for (const target of ['/a/../b', '//x', '/%2E%2e/', 'http://other/', '/a b', '*']) {
    const { status } = await rawRequest(server, { target })
    t.equal(status, 204)
    t.ok(server.seen.at(-1)?.startsWith(`GET ${target} HTTP/1.1\r\n`), target)
  }
})

test('a body is sent as UTF-8 with its length in bytes, and own headers win', (t) => {
  const bytes = requestBytes({ method: 'POST', target: '/', headers: { Host: 'h' }, body: 'é' })
  t.match(bytes, /\r\ncontent-length: 2\r\n/)
  t.match(bytes, /\r\nhost: h\r\n/)
  t.notMatch(bytes, /localhost/)
  t.same(Buffer.from(bytes, 'latin1').subarray(-2), Buffer.from('é'))
  t.end()
})

test('bodies by length, in chunks, until the end, and none after HEAD are read whole', async (t) => {
  const byLength = await serve(
    t,
    'HTTP/1.1 200 OK\r\ncontent-length: 3\r\nSet-Cookie: a\r\nset-cookie: b\r\n\r\nabc',
  )
  const response = await rawRequest(byLength, { target: '/' })
  t.match(response, { status: 200, text: 'abc', headers: { 'set-cookie': 'a\nb' } })
  const chunked = await serve(
    t,
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n',
  )
  t.equal((await rawRequest(chunked, { target: '/' })).text, 'abc')
  const untilEnd = await serve(t, 'HTTP/1.1 200 OK\r\n\r\nabc', true)
  t.equal((await rawRequest(untilEnd, { target: '/' })).text, 'abc')
  const head = await serve(t, 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n')
  t.equal((await rawRequest(head, { method: 'HEAD', target: '/' })).text, '')
})

test('pipelined answers come apart and interim ones are passed over', async (t) => {
  const server = await serve(
    t,
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\naHTTP/1.1 404 Not Found\r\ncontent-length: 1\r\n\r\nb',
  )
  const responses = await rawExchange(server, 'x', { responses: 2 })
  t.same(
    responses.map(({ status, text }) => [status, text]),
    [
      [200, 'a'],
      [404, 'b'],
    ],
  )
})

test('a silent server, a half answer and a reset fail in bounded time', async (t) => {
  const silent = await serve(t, '')
  await t.rejects(rawRequest(silent, { target: '/' }, 50), { message: 'The server did not answer in time' })
  const half = await serve(t, 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc', true)
  await t.rejects(rawRequest(half, { target: '/' }), { message: /closed before a whole response came/ })
  const noise = await serve(t, 'ICY 200 OK\r\n\r\n')
  await t.rejects(rawRequest(noise, { target: '/' }), { message: /no HTTP response/ })
  const connection = await openConnection(silent)
  await t.rejects(connection.closed(50), { message: 'The server did not answer in time' })
})
