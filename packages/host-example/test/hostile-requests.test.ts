/**
 * Thousands of hostile requests over raw sockets against the application, each of whose routes declares its access.
 * `CORPUS_EXTRA=30000 CORPUS_SEED=2` adds random compositions.
 */
import { type HostileRequest, hostileRequests } from '@fastify-modular/test-support/hostile-requests'
import { rawRequest } from '@fastify-modular/test-support/raw-http'
import type { AccessRow } from '@fastify-modular/public-routes'
import type { FastifyInstance } from 'fastify'
import { test } from 'tap'
import { buildExample } from './built-example.js'

const extra = Number(process.env['CORPUS_EXTRA'] ?? 500)
const seed = Number(process.env['CORPUS_SEED'] ?? 1)
const isPublic = ['public']

const callers = [
  {
    name: 'a stranger',
    username: null,
    closed: ['/api/notes/42', '/settings/manage', '/api/mails'],
    may: isPublic,
  },
  {
    name: 'alice, who has no permission,',
    username: 'alice',
    closed: ['/api/mails', '/api/dead-letters/7/retry'],
    may: [...isPublic, 'signed-in'],
  },
] as const
const open = ['/health/live', '/accent/336699.css', '/api/notes/42/share']

for (const { name, username, closed, may } of callers) {
  test(`no hostile request of ${name} passes the gate to a route of the example that is closed to it`, async (t) => {
    /** The route behind the gate that a request reached, by its `x-number`. */
    const passed = new Map<string, string>()
    const app = await buildExample({
      databaseUrl: 'sqlite::memory:',
      onCreate: (created) =>
        created.addHook('preParsing', (request, _reply, _payload, done) => {
          const { headers, method, routeOptions } = request
          if (!request.is404) passed.set(String(headers['x-number']), `${method} ${routeOptions.url}`)
          done()
        }),
    })
    t.teardown(() => app.close())
    const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
    const cookie = username === null ? {} : { cookie: await cookieOf(app, username) }
    const rows: readonly AccessRow[] = app.access.table()
    const allowed = new Set(
      rows
        .filter(({ access }) => may.some((each) => each === access))
        .map(({ method, url }) => `${method} ${url}`),
    )

    const bypasses: string[] = []
    const failures: string[] = []
    let count = 0
    const requests = hostileRequests({ protected: closed, public: open }, extra, seed)
    async function send(): Promise<void> {
      for (const { method, target, headers } of requests) {
        // What is announced and never sent keeps a known caller's request open.
        if (username !== null && ('content-length' in headers || 'transfer-encoding' in headers)) continue
        const number = String(++count)
        const status = await statusOf(Number(port), {
          method,
          target,
          headers: { ...headers, ...cookie, 'x-number': number },
        })
        const reached = passed.get(number)
        const words = `${method} ${target} ${JSON.stringify(headers)} → ${status}`
        if (reached !== undefined && !allowed.has(reached)) bypasses.push(`${words} reached ${reached}`)
        if (status >= 500) failures.push(words)
      }
    }
    await Promise.all(Array.from({ length: 24 }, send))

    t.same(bypasses, [])
    t.same(failures, [])
    t.ok(count > 1500, `${count} requests`)
    t.ok(
      [...passed.values()].some((route) => allowed.has(route)),
      'what is open was reached',
    )
    t.comment(`${count} requests, ${passed.size} passed the gate`)
  })
}

async function cookieOf(app: FastifyInstance, username: string): Promise<string> {
  const { cookies } = await app.inject({
    method: 'POST',
    url: '/login',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: `user=${username}&password=demo-${username}`,
  })
  return cookies.map(({ name, value }) => `${name}=${encodeURIComponent(value)}`).join('; ')
}

/** 0 where the connection was closed without an answer. */
async function statusOf(port: number, request: HostileRequest): Promise<number> {
  try {
    return (await rawRequest({ port }, request, 60_000)).status
  } catch (error) {
    if (error instanceof Error && /closed before/.test(error.message)) return 0
    throw error
  }
}
