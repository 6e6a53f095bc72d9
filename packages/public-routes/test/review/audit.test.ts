import { Readable } from 'node:stream'
import type { AuthProvider } from '@fastify-modular/public-routes'
import cookie from '@fastify/cookie'
import cors from '@fastify/cors'
import jwt from '@fastify/jwt'
import rateLimit from '@fastify/rate-limit'
import session from '@fastify/session'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import fp from 'fastify-plugin'
import { test } from 'tap'
import { gate, loggingApp } from '../support/logging-application.ts'

/** What Fastify hands out can be awaited, but is no Promise. */
async function booting(app: PromiseLike<unknown>): Promise<void> {
  await app
}

test('decision 40: a gate in a child scope is a boot error that names the scope', async (t) => {
  const { app } = loggingApp(t)
  await t.rejects(
    booting(
      app.register(async function accounts(scope) {
        await gate(scope)
      }),
    ),
    { code: 'FMOD_PUBLIC_ROUTES_NOT_AT_ROOT', message: /plugin accounts/ },
  )
})

test('a gate inside a plugin wrapped with fastify-plugin is at the root', async (t) => {
  const { app } = loggingApp(t)
  await app.register(
    fp(async (scope) => {
      await gate(scope)
    }),
  )
  app.get('/x', async () => 'ran')
  t.equal((await app.inject('/x')).statusCode, 401)
})

test('decision 40: an earlier hook that answers is a boot error that names it', async (t) => {
  const { app } = loggingApp(t)
  app.addHook('onRequest', async function maintenance(_request, reply) {
    return reply.send('back soon')
  })
  await gate(app)
  app.get('/x', async () => 'ran')
  await t.rejects(booting(app.ready()), {
    code: 'FMOD_PUBLIC_ROUTES_GATE_BYPASSED',
    message: /status 200.*maintenance/,
  })
})

test('decision 40: an earlier hook that fails does not stop the boot, since it opens nothing', async (t) => {
  const { app, warnings } = loggingApp(t)
  app.addHook('onRequest', async function needsCache() {
    throw new Error('cache down')
  })
  await gate(app)
  app.get('/x', async () => 'ran')
  await app.ready()
  t.match(warnings(), [
    { status: 500, hooks: ['needsCache'], msg: 'the self-test of the gate did not reach it' },
  ])
})

test('decision 102: one line of the boot lists the hooks that run before the gate; none have a warning', async (t) => {
  const { app, lines, warnings } = loggingApp(t)
  await app.register(cors)
  await app.register(rateLimit)
  await app.register(cookie)
  await app.register(jwt, { secret: 'a-secret-of-more-than-thirty-two-characters' })
  await app.register(session, { secret: 'a-secret-of-more-than-thirty-two-characters' })
  app.addHook('onRequest', function parseTenant(_request, _reply, done) {
    done()
  })
  for (let unnamed = 0; unnamed < 2; unnamed++) app.addHook('onRequest', (_request, _reply, done) => done())
  await gate(app)
  app.addHook('onRequest', function later(_request, _reply, done) {
    done()
  })
  app.get('/x', async () => 'ran')
  await app.ready()
  t.same(
    lines().flatMap(({ hooks }) => (hooks === undefined ? [] : [hooks])),
    [['handleCors', 'fastifyCookieHandler', 'handleSession', 'parseTenant', '2 unnamed']],
  )
  t.same(warnings(), [])

  const alone = loggingApp(t)
  await gate(alone.app)
  alone.app.get('/x', async () => 'ran')
  await alone.app.ready()
  t.same(alone.lines(), [], 'without such hooks there is no line')
})

test('neither the self-test nor explain shows as a request in the log; what others log at that time does', async (t) => {
  const { app, lines } = loggingApp(t)
  app.addHook('onRequest', function wait(_request, _reply, done) {
    setImmediate(() => {
      app.log.info('meanwhile')
      done()
    })
  })
  await gate(app, { guests: true })
  app.get('/x', async () => 'ran')
  await app.ready()
  await app.access.explain('GET', '/x')
  await app.access.explain('GET', '/%zz')
  const messages = lines().map(({ msg }) => msg)
  t.notMatch(messages, ['incoming request'])
  t.equal(messages.filter((msg) => msg === 'meanwhile').length, 2)
  await app.inject('/x')
  t.ok(lines().some(({ msg }) => msg === 'incoming request'))
})

test('what stands before the gate sees whole requests of the gate, from their address to their end', async (t) => {
  const { app, warnings } = loggingApp(t)
  const seen: unknown[] = []
  let inFlight = 0
  const ends: string[] = []
  app.addHook('onRequest', async (request, reply) => {
    inFlight++
    const { ip, id, socket, hostname, protocol, raw } = request
    const version = [raw.httpVersion, raw.httpVersionMajor, raw.httpVersionMinor].join(' ')
    seen.push([ip, typeof id, socket.remoteAddress, socket.localAddress, hostname, protocol, version])
    for (const end of ['finish', 'close']) reply.raw.on(end, () => ends.push(end))
  })
  app.addHook('onResponse', async () => void inFlight--)
  await gate(app, { guests: true })
  app.get('/x', async () => 'ran')
  await app.ready()
  await app.access.explain('GET', '/x')
  await app.access.explain('GET', '/%zz')
  await new Promise((resolve) => setImmediate(resolve))
  const address = '127.0.0.1'
  t.same(
    seen,
    Array.from({ length: 2 }, () => [address, 'string', address, address, 'localhost', 'http', '1.1 1 1']),
  )
  t.same(ends, ['finish', 'close', 'finish', 'close'])
  t.equal(inFlight, 0)
  t.same(warnings(), [])
})

const writingHooks: Readonly<Record<string, (request: FastifyRequest, reply: FastifyReply) => void>> = {
  'sends early hints': (_, { raw }) => raw.writeEarlyHints({ link: '</style.css>; rel=preload' }),
  'flushes the headers': (_, { raw }) => raw.flushHeaders(),
  'writes more than a socket buffers': (_, { raw }) => void raw.write('x'.repeat(1_000_000)),
  'sets a time-out': ({ raw }) =>
    void raw.setTimeout(60_000).socket.setKeepAlive(true).setNoDelay(true).unref(),
}

for (const [name, write] of Object.entries(writingHooks)) {
  test(`an earlier hook that ${name} does not stop the boot`, async (t) => {
    const { app, warnings } = loggingApp(t)
    app.addHook('onRequest', function early(request, reply, done) {
      write(request, reply)
      done()
    })
    await gate(app, { guests: true })
    app.get('/x', async () => 'ran')
    await app.ready()
    t.match(await app.access.explain('GET', '/x'), { decision: 'protected' })
    t.same(warnings(), [])
  })
}

test('an earlier hook that sends a stream, or ends the connection, is seen at once', async (t) => {
  const { app } = loggingApp(t)
  app.addHook('onRequest', function early({ url, raw }, reply, done) {
    if (url === '/stream') void reply.code(418).send(Readable.from(['x'.repeat(1_000_000), 'y']))
    else if (url === '/cut') raw.destroy()
    else done()
  })
  await gate(app, { guests: true })
  await app.ready()
  t.match(await app.access.explain('GET', '/stream'), { decision: 'rejected', status: 418 })
  t.match(await app.access.explain('GET', '/cut'), { decision: 'rejected', status: 0 })
})

test('a logger whose level cannot be written boots, and explains', async (t) => {
  const lines: string[] = []
  const write = (...args: unknown[]) => void lines.push(String(args.at(-1)))
  const logger = Object.freeze({
    get level() {
      return 'info'
    },
    ...Object.fromEntries(
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'].map((name) => [name, write]),
    ),
    child: () => logger,
  }) as unknown as FastifyBaseLogger
  const app = Fastify({ loggerInstance: logger })
  t.teardown(() => app.close())
  await gate(app as unknown as FastifyInstance)
  app.get('/x', async () => 'ran')
  await app.ready()
  t.match(await (app as unknown as FastifyInstance).access.explain('GET', '/x'), { decision: 'protected' })
})

test('decision 40: @fastify/cors after the gate gives a warning, before it none', async (t) => {
  for (const first of [true, false]) {
    const { app, warnings } = loggingApp(t)
    if (first) await app.register(cors)
    await gate(app)
    if (!first) await app.register(cors)
    await app.ready()
    t.equal(
      warnings().some(({ msg }) => msg.startsWith('@fastify/cors')),
      !first,
    )
  }
})

test('decision 33: a login URL that is not public is a boot error', async (t) => {
  const provider: AuthProvider = { authenticate: () => null, loginUrl: '/login?lang=de' }
  const closed = loggingApp(t).app
  await gate(closed, { provider })
  closed.get('/login', async () => 'login')
  await t.rejects(booting(closed.ready()), {
    code: 'FMOD_PUBLIC_ROUTES_LOGIN_NOT_PUBLIC',
    message: /\/login\?lang=de/,
  })

  const open = loggingApp(t).app
  await gate(open, { provider })
  open.get('/login', { config: { access: 'public' } }, async () => 'login')
  await open.ready()

  const external = loggingApp(t).app
  await gate(external, { provider: { ...provider, loginUrl: 'https://id.example.com' } })
  await external.ready()
})

test('decision 115: a provider that knows somebody without credentials gives a warning, unless guests are meant', async (t) => {
  const guest = { id: 'guest', permissions: ['Notes.Read'] }
  const asked: unknown[] = []
  const boot = async (authenticate: AuthProvider['authenticate'], options: { guests?: boolean } = {}) => {
    asked.length = 0
    const { app, warnings } = loggingApp(t)
    let isOpen = false
    app.addHook('onRequest', async (request) => void Reflect.set(request, 'tenant', 'known'))
    await gate(app, {
      provider: {
        authenticate: (request, signal) => {
          const { ip, method, url, headers } = request
          asked.push([
            ip,
            method,
            url.includes('?'),
            Object.keys(headers),
            Reflect.get(request, 'tenant'),
            isOpen,
          ])
          return authenticate(request, signal)
        },
      },
      ...options,
    })
    app.get('/x', async () => 'ran')
    app.addHook('onReady', async () => void (isOpen = true))
    await app.ready()
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    return warnings().filter(({ msg }) => msg.includes('without credentials'))
  }
  const once = [['192.0.2.1', 'HEAD', false, ['host'], 'known', true]]
  t.match(await boot(() => guest), [{ caller: 'guest', rights: 'with Notes.Read' }])
  t.same(asked, once, 'after the last onReady hook, by the hooks before the gate, with nothing')
  t.match(await boot(async () => ({ id: 'service', isAdmin: true })), [{ rights: 'as an administrator' }])
  t.same(await boot(() => guest, { guests: true }), [])
  t.same(asked, [])
  for (const silent of [
    () => null,
    () => {
      throw new Error('the session store is down')
    },
    async () => Promise.reject(new Error('the session store is down')),
    () => 'no caller' as never,
    () => new Promise<null>(() => {}),
  ])
    t.same(await boot(silent), [])
})
