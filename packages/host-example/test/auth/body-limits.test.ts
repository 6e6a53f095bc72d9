/** What strangers may send: the routes come from the gate's own table, so the next public one is covered too. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test } from 'tap'
import { rawExchange, rawRequest, requestBytes } from '@fastify-modular/test-support/raw-http'
import type { AccessRow } from '@fastify-modular/public-routes'
import type { FastifyInstance } from 'fastify'
import { createApp } from '#src/app.js'
import { readConfig } from '#src/config.js'

/** No form of this application needs more; a public route that does must say why here. */
const mostBytes = 10_240

const withoutBody: ReadonlySet<string> = new Set(['GET', 'HEAD', 'TRACE'])

const types = ['application/x-www-form-urlencoded', 'application/json', 'text/plain']

/** The methods and paths that anonymous callers reach with a body. */
function publicWrites(app: FastifyInstance): { method: string; path: string }[] {
  const rows: readonly AccessRow[] = app.access.table()
  const open = rows.filter(({ access, mayBeOpenedBy }) => access === 'public' || mayBeOpenedBy.length > 0)
  return open
    .filter(({ method }) => method !== '*' && !withoutBody.has(method))
    .map(({ method, url }) => ({ method, path: url }))
}

test('strangers send small bodies only, whichever route they reach', async (t) => {
  const app = await createApp(
    readConfig({ DATABASE_URL: 'sqlite::memory:', LOG_LEVEL: 'silent', DEMO_WEEK: 'off' }),
  )
  t.teardown(() => app.close())
  app.server.listen(0, '127.0.0.1')
  await once(app.server, 'listening')
  const { port } = app.server.address() as AddressInfo
  const writes = publicWrites(app)
  t.ok(writes.some(({ path }) => path === '/login') && writes.some(({ path }) => path === '/logout'))

  for (const { method, path } of writes) {
    for (const type of types) {
      await t.test(`${method} ${path} refuses a long ${type} before it reads it`, async (t) => {
        const body = `{"a":"${'x'.repeat(mostBytes)}"}`
        const whole = { method, target: path, headers: { 'content-type': type }, body }
        const inChunks =
          `${method} ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: ${type}\r\n` +
          `transfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
        const answers = await rawExchange({ port }, requestBytes(whole))
        answers.push(...(await rawExchange({ port }, inChunks)))
        t.same(
          answers.map(({ status }) => status),
          [413, 413],
        )
      })
    }
  }

  await t.test('the longest form that is valid fits', async (t) => {
    const form = new URLSearchParams({
      username: '\u{1f600}'.repeat(100),
      password: '\u{1f600}'.repeat(200),
      returnTo: '/'.repeat(2048),
    })
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await rawRequest(
      { port },
      { method: 'POST', target: '/login', headers, body: form.toString() },
    )
    t.equal(answer.status, 401, 'checked, and refused for its password')
  })
})
