import { Readable } from 'node:stream'
import { test } from 'tap'
import { createApp, createThrowing } from '../support/app.js'
import { inertiaHeaders, problemOf } from '../support/expect.js'

const failing = (more: object): Error => Object.assign(new Error('x'), more)

test('E60 and E61: errors bring a time to wait and a challenge', async (t) => {
  const busy = await createThrowing(t, failing({ statusCode: 503, headers: { 'retry-after': '7' } }))
  const anonymous = await createThrowing(
    t,
    failing({ statusCode: 401, headers: { 'WWW-Authenticate': 'Bearer' } }),
  )
  const answer = await busy.app.inject('/')
  problemOf(t, answer, 503)
  t.equal(answer.headers['retry-after'], '7')
  t.equal((await anonymous.app.inject('/')).headers['www-authenticate'], 'Bearer')
  const page = await anonymous.app.inject({ url: '/', headers: inertiaHeaders })
  t.equal(page.headers['www-authenticate'], 'Bearer', 'on pages too')
})

test('errors bring no other headers: upstream clients attach those of a foreign answer', async (t) => {
  const headers = {
    'set-cookie': 'session=theirs',
    location: 'https://evil.example',
    'access-control-allow-origin': '*',
    'x-ratelimit-remaining': 0,
    'retry-after': '1\r\nset-cookie: a=b',
    allow: 'a'.repeat(2000),
  }
  const { app } = await createThrowing(t, failing({ statusCode: 409, headers }))
  const answer = await app.inject('/')
  problemOf(t, answer, 409)
  for (const name of ['set-cookie', 'location', 'access-control-allow-origin', 'retry-after', 'allow']) {
    t.equal(answer.headers[name], undefined, name)
  }
  t.equal(answer.headers['x-ratelimit-remaining'], '0')
})

test('E62 to E64: cookies and CORS stay, what described the lost body goes', async (t) => {
  const { app } = await createApp(t, {
    after: (it) =>
      it
        .addHook('onRequest', async (_, reply) => {
          reply.header('access-control-allow-origin', 'https://app.example').header('x-frame-options', 'DENY')
        })
        .get('/', (_, reply) => {
          reply
            .header('set-cookie', 'a=1')
            .header('cache-control', 'public, max-age=3600')
            .header('etag', '"1"')
            .header('last-modified', 'Sat, 21 Nov 2026 00:00:00 GMT')
            .header('content-encoding', 'gzip')
            .header('content-disposition', 'attachment')
            .header('location', '/elsewhere')
          throw new Error('x')
        }),
  })
  const answer = await app.inject('/')
  problemOf(t, answer, 500)
  t.equal(answer.headers['set-cookie'], 'a=1')
  t.equal(answer.headers['access-control-allow-origin'], 'https://app.example')
  t.equal(answer.headers['x-frame-options'], 'DENY')
  for (const name of ['etag', 'last-modified', 'content-encoding', 'content-disposition', 'location']) {
    t.equal(answer.headers[name], undefined, name)
  }
})

test('headers of a stream that fails before its first byte go as well', async (t) => {
  const { app } = await createApp(t, {
    after: (it) =>
      it.get('/', (_, reply) => {
        const stream = new Readable({ read: () => void stream.destroy(new Error('early')) })
        return reply.header('content-encoding', 'gzip').header('etag', '"1"').type('text/csv').send(stream)
      }),
  })
  const answer = await app.inject('/')
  problemOf(t, answer, 500)
  t.equal(answer.headers['content-encoding'], undefined)
  t.equal(answer.headers['etag'], undefined)
})

test('E65: Vary grows and keeps what was there', async (t) => {
  const varyOf = async (before: string | undefined) => {
    const { app } = await createApp(t, {
      after: (it) =>
        it.get('/', (_, reply) => {
          if (before !== undefined) reply.header('vary', before)
          throw new Error('x')
        }),
    })
    return (await app.inject('/')).headers['vary']
  }
  t.equal(await varyOf(undefined), 'Accept, X-Inertia')
  t.equal(await varyOf('Origin'), 'Origin, Accept, X-Inertia')
  t.equal(await varyOf('x-inertia, Origin'), 'x-inertia, Origin, Accept')
  t.equal(await varyOf('*'), '*')
})

test('E66: HEAD of a failing route has the headers of its GET and no body', async (t) => {
  const { app } = await createThrowing(t, new Error('x'))
  const get = await app.inject('/')
  const head = await app.inject({ method: 'HEAD', url: '/' })
  t.same([head.statusCode, head.body], [500, ''])
  t.equal(head.headers['content-length'], get.headers['content-length'])
  t.equal(head.headers['content-type'], 'application/problem+json')
})
