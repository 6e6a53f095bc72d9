import type { AuthProvider } from '@fastify-modular/public-routes'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import cookie from '@fastify/cookie'
import cors from '@fastify/cors'
import session from '@fastify/session'
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

test('decision 40: hooks that run before the gate are listed, also those of scopes that came first', async (t) => {
  const { app, warnings } = loggingApp(t)
  app.addHook('onRequest', function parseCookies(_request, _reply, done) {
    done()
  })
  await app.register(async (scope) => {
    scope.addHook('onRequest', function countVisits(_request, _reply, done) {
      done()
    })
    scope.get('/inner', async () => 'ran')
  })
  await gate(app)
  app.addHook('onRequest', function later(_request, _reply, done) {
    done()
  })
  app.get('/x', async () => 'ran')
  await app.ready()
  t.same(warnings().find(({ hooks }) => hooks)?.['hooks'], ['parseCookies', 'countVisits'])
})

test('hooks that are expected to run before the gate give no warning, any other does', async (t) => {
  const bootWith = async (expectedHooks: readonly string[]) => {
    const { app, warnings } = loggingApp(t)
    await app.register(cookie)
    await app.register(session, { secret: 'a-secret-of-more-than-thirty-two-characters' })
    await gate(app, { expectedHooks })
    app.get('/x', async () => 'ran')
    await app.ready()
    return warnings()
  }
  t.same(await bootWith(['fastifyCookieHandler', 'handleSession']), [])
  t.match(await bootWith(['fastifyCookieHandler']), [{ hooks: ['handleSession'] }])
  t.match(await bootWith([]), [{ hooks: ['fastifyCookieHandler', 'handleSession'], msg: /expectedHooks/ }])
})

test('the order and the expectedHooks of the README give no warning, and cors no early route', async (t) => {
  const readme = await readFile(join(import.meta.dirname, '../../README.md'), 'utf8')
  const [, list = ''] = /expectedHooks: \[(.*?)\n  \],/s.exec(readme) ?? []
  const expectedHooks = Array.from(list.matchAll(/'(\w+)'/g), ([, name = '']) => name)
  const { app, warnings, lines } = loggingApp(t)
  await app.register(cors)
  await app.register(cookie)
  await app.register(session, { secret: 'a-secret-of-more-than-thirty-two-characters' })
  app.get('/early', async () => 'ran')
  await gate(app, { expectedHooks })
  await app.ready()
  t.same(warnings(), [])
  t.same(
    lines().flatMap(({ routes }) => routes ?? []),
    ['GET /early'],
  )
})

test('a route for OPTIONS * that stands before the gate without cors is named', async (t) => {
  const { app, lines } = loggingApp(t)
  app.options('*', async () => 'ran')
  await gate(app)
  await app.ready()
  t.same(
    lines().flatMap(({ routes }) => routes ?? []),
    ['OPTIONS *'],
  )
})

test('neither the self-test nor explain shows as a request in the log; what others log at that time does', async (t) => {
  const { app, lines } = loggingApp(t)
  app.addHook('onRequest', function wait(_request, _reply, done) {
    setImmediate(() => {
      app.log.info('meanwhile')
      done()
    })
  })
  await gate(app)
  app.get('/x', async () => 'ran')
  await app.ready()
  await app.publicRoutes.explain('GET', '/x')
  await app.publicRoutes.explain('GET', '/%zz')
  const messages = lines().map(({ msg }) => msg)
  t.notMatch(messages, ['incoming request'])
  t.equal(messages.filter((msg) => msg === 'meanwhile').length, 2)
  await app.inject('/x')
  t.ok(lines().some(({ msg }) => msg === 'incoming request'))
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
  open.get('/login', { config: { public: ['GET'] } }, async () => 'login')
  await open.ready()

  const external = loggingApp(t).app
  await gate(external, { provider: { ...provider, loginUrl: 'https://id.example.com' } })
  await external.ready()
})
