import Database from 'better-sqlite3'
import { test } from 'tap'
import { rawRequest } from '@fastify-modular/test-support/raw-http'
import { databaseWithAccounts, startHost } from './host.js'

test('failures', async (t) => {
  const host = await startHost(t)
  const alice = await host.signIn('alice')
  const { text } = await host.anonymous.ask('/', { headers: { accept: 'text/html' } })
  const version = /"version":"([^"]+)"/.exec(text)?.[1] ?? ''
  const inertia = { 'x-inertia': 'true', 'x-inertia-version': version }

  await t.test('S 7.1: a failure is a problem, or a page for a visit', async (t) => {
    const bob = await host.signIn('bob')
    const { id } = (await alice.ask('/api/notes', { method: 'POST', body: { title: 'Hers' } })).json
    const failures = [
      [alice, 'PATCH', { title: '' }, 400, 'Validation Error'],
      [alice, 'PATCH', { title: 'Late', version: 9 }, 409, 'Conflict'],
      [bob, 'GET', undefined, 403, 'Forbidden'],
    ] as const
    for (const [person, method, body, status, title] of failures) {
      const problem = await person.ask(`/api/notes/${id}`, { method, body })
      t.equal(problem.status, status)
      t.match(problem.headers.get('content-type'), /^application\/problem\+json/)
      t.match(problem.json, { status, title })
      const page = await person.ask(`/api/notes/${id}`, { method, body, headers: inertia })
      t.equal(page.status, status)
      t.equal(page.headers.get('x-inertia'), 'true')
      t.match(page.json, { component: `Error/${status}`, props: { status, title }, version })
      t.same(Object.keys(page.json.props).toSorted(), ['message', 'status', 'title'])
    }
    const { json } = await alice.ask('/api/notes', { method: 'POST', body: {} })
    t.match(json.errors, { title: [/required/] })
  })

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

test('S 7.1: an unknown failure shows nothing of itself, and the log has it', async (t) => {
  const { file, DATABASE_URL } = await databaseWithAccounts(t)
  const host = await startHost(t, { DATABASE_URL })
  const alice = await host.signIn('alice')
  const breaker = new Database(file)
  breaker.exec('drop table notes')
  breaker.close()
  const { status, json, text } = await alice.ask('/api/notes')
  t.equal(status, 500)
  t.equal(json.detail, 'An unexpected error occurred. Please try again later.')
  t.notMatch(text, 'no such table')
  await host.printed(/no such table: notes/) // the answer may be here before the line is
})
