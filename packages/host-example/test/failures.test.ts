import Database from 'better-sqlite3'
import { test } from 'tap'
import { rawRequest } from '@fastify-modular/test-support/raw-http'
import { databaseWithAccounts, startHost } from './host.js'

const faults = [
  ['validation', 400, 'Validation Error'],
  ['argument', 400, 'Validation Error'],
  ['not-found', 404, 'Resource not found'],
  ['forbidden', 403, 'Forbidden'],
  ['conflict', 409, 'Conflict'],
  ['unknown', 500, 'Internal Server Error'],
] as const

test('failures', async (t) => {
  const host = await startHost(t)
  const alice = await host.signIn('alice')
  const { text } = await host.anonymous.ask('/', { headers: { accept: 'text/html' } })
  const version = /"version":"([^"]+)"/.exec(text)?.[1] ?? ''
  const inertia = { 'x-inertia': 'true', 'x-inertia-version': version }

  for (const [fault, status, title] of faults) {
    await t.test(`S 7.1: ${fault} is ${status}, as a problem or as a page`, async (t) => {
      const problem = await alice.ask(`/api/faults/${fault}`)
      t.equal(problem.status, status)
      t.match(problem.headers.get('content-type'), /^application\/problem\+json/)
      t.match(problem.json, { status, title })
      const page = await alice.ask(`/api/faults/${fault}`, { headers: inertia })
      t.equal(page.status, status)
      t.equal(page.headers.get('x-inertia'), 'true')
      t.match(page.json, { component: `Error/${status}`, props: { status, title }, version })
      t.same(Object.keys(page.json.props).toSorted(), ['message', 'status', 'title'])
    })
  }

  await t.test(
    'S 7.1: validation lists its errors; an unknown failure shows nothing of itself',
    async (t) => {
      t.same((await alice.ask('/api/faults/validation')).json.errors, { name: ['is required'] })
      const unknown = await alice.ask('/api/faults/unknown')
      t.equal(unknown.json.detail, 'An unexpected error occurred. Please try again later.')
      // The answer may be here before the line is.
      await host.printed(/Something that nobody foresaw/)
      t.equal((await alice.ask('/api/faults/other')).status, 400)
      t.equal((await host.anonymous.ask('/api/faults/unknown')).status, 401)
    },
  )

  await t.test('S 4.3: an unmatched GET is a page, another method a problem', async (t) => {
    const page = await alice.ask('/nowhere', { headers: { accept: 'text/html' } })
    t.equal(page.status, 404)
    t.match(page.text, String.raw`"component":"Error\/404"`)
    const visit = await alice.ask('/nowhere', { headers: inertia })
    t.match(visit.json, { component: 'Error/404', props: { status: 404 } })
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const write = await alice.ask('/nowhere', { method, headers: { accept: 'text/html' } })
      t.equal(write.status, 404)
      t.match(write.headers.get('content-type'), /^application\/problem\+json/)
    }
  })

  await t.test('S 4.3: /error/{statusCode} shows the page of any status, also to strangers', async (t) => {
    for (const status of [403, 404, 500, 418]) {
      const page = await host.anonymous.ask(`/error/${status}`, { headers: { accept: 'text/html' } })
      t.equal(page.status, status < 500 ? status : 200)
      t.match(page.text, String.raw`"component":"Error\/${status}"`)
    }
  })

  await t.test('malformed requests get their status and close nothing but themselves', async (t) => {
    t.equal((await rawRequest(host, { target: '/api/%zz' })).status, 400)
    t.equal((await rawRequest(host, { target: '/api/notes/../../health' })).status, 401)
    const big = { method: 'POST', body: { title: 'x', body: 'x'.repeat(1_100_000) } }
    t.equal((await alice.ask('/api/notes', big)).status, 413)
    t.equal((await host.anonymous.ask('/health/live')).status, 200)
  })

  await t.test('every answer has the security headers', async (t) => {
    for (const path of ['/', '/login', '/health/live', '/api/notes', '/nowhere']) {
      const { headers } = await host.anonymous.ask(path)
      t.match(
        headers.get('content-security-policy'),
        /^default-src 'none'; script-src 'self'; style-src 'self'/,
        path,
      )
      t.equal(headers.get('x-content-type-options'), 'nosniff', path)
      t.equal(headers.get('cross-origin-opener-policy'), 'same-origin', path)
      t.equal(headers.get('cross-origin-resource-policy'), 'same-origin', path)
      t.equal(headers.get('strict-transport-security'), null, 'not without TLS')
    }
  })

  await t.test('the API browser may not be framed and loads nothing from elsewhere', async (t) => {
    for (const path of ['/api/docs', '/openapi.json']) {
      const { headers } = await host.anonymous.ask(path)
      const policy = headers.get('content-security-policy') ?? ''
      t.match(policy, /frame-ancestors 'none'/, path)
      t.notMatch(policy, /https:|[a-z]\.[a-z]|frame-ancestors 'self'/, path)
      t.equal(headers.get('cross-origin-resource-policy'), 'same-origin', path)
    }
  })

  await t.test('files of the build are public and kept for ever, its manifest is not served', async (t) => {
    const style = /href="(\/static\/[^"]+\.css)"/.exec(text)?.[1] ?? ''
    const answer = await host.anonymous.ask(style)
    t.equal(answer.status, 200)
    t.match(answer.headers.get('cache-control'), /immutable/)
    t.equal((await host.anonymous.ask('/static/.vite/manifest.json')).status, 404)
  })
})

test('while another process holds the SQLite file writes are 503, and nothing is lost', async (t) => {
  const { file, DATABASE_URL } = await databaseWithAccounts(t)
  const host = await startHost(t, { DATABASE_URL })
  const alice = await host.signIn('alice')
  const holder = new Database(file)
  t.teardown(() => holder.close())
  holder.exec('begin immediate')
  const refused = await alice.ask('/api/notes', { method: 'POST', body: { title: 'Later' } })
  t.match(refused, { status: 503, json: { code: 'SERVICE_UNAVAILABLE' } })
  t.equal(refused.headers.get('retry-after'), '5')
  holder.exec('rollback')
  t.same((await alice.ask('/api/notes')).json, [])
  t.equal((await alice.ask('/api/notes', { method: 'POST', body: { title: 'Now' } })).status, 201)
})
