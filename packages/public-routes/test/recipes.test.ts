/** The providers of the README, with the packages that they are for. */
import { randomBytes } from 'node:crypto'
import type { Caller } from '@fastify-modular/core'
import { combineProviders, publicRoutes, type AuthProvider } from '@fastify-modular/public-routes'
import cookie from '@fastify/cookie'
import jwt from '@fastify/jwt'
import secureSession from '@fastify/secure-session'
import session from '@fastify/session'
import Fastify, { type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import { test, type Test } from 'tap'

declare module '@fastify/session' {
  interface FastifySessionObject {
    userId?: string
  }
}
declare module '@fastify/secure-session' {
  interface SessionData {
    userId: string
  }
}

const callerOf = (id: string | undefined): Caller | null => (id === undefined ? null : { id })

const bearer: AuthProvider = {
  async authenticate(request) {
    if (request.headers.authorization === undefined) return null
    try {
      const { sub } = await request.jwtVerify<{ sub: string }>()
      return callerOf(sub)
    } catch {
      return null // an invalid token identifies no caller
    }
  },
}

const serverSession: AuthProvider = {
  authenticate: (request) => callerOf(request.session.userId),
  loginUrl: '/login',
}

async function recipe(t: Test, prepare: (app: FastifyInstance) => Promise<void>): Promise<FastifyInstance> {
  const app = Fastify()
  t.teardown(() => app.close())
  await prepare(app)
  app.get('/me', async ({ caller }) => caller?.id)
  return app
}

function cookieOf(answer: LightMyRequestResponse): Record<string, string> {
  return Object.fromEntries(answer.cookies.map(({ name, value }) => [name, value]))
}

test('recipe: @fastify/secure-session', async (t) => {
  const app = await recipe(t, async (instance) => {
    await instance.register(secureSession, { key: randomBytes(32), cookie: { path: '/' } })
    await instance.register(publicRoutes, {
      provider: { authenticate: (request) => callerOf(request.session.get('userId')), loginUrl: '/login' },
      env: false,
    })
    instance.get('/login', { config: { access: 'public' } }, async (request) => {
      request.session.set('userId', 'alice')
      return 'signed in'
    })
  })
  t.equal((await app.inject('/me')).statusCode, 401)
  t.equal((await app.inject({ url: '/me', cookies: { session: 'forged;forged' } })).statusCode, 401)
  t.equal((await app.inject({ url: '/me', cookies: cookieOf(await app.inject('/login')) })).body, 'alice')
})

test('recipe: a session of @fastify/session for browsers, a token of @fastify/jwt for programs', async (t) => {
  const app = await recipe(t, async (instance) => {
    await instance.register(jwt, { secret: randomBytes(32).toString('hex') })
    await instance.register(cookie)
    await instance.register(session, {
      secret: randomBytes(32).toString('hex'),
      cookie: { secure: false },
      saveUninitialized: false,
    })
    const provider = combineProviders([serverSession, bearer])
    await instance.register(publicRoutes, { provider, env: false, csrf: true })
    instance.post('/login', { config: { access: 'public' } }, async (request) => {
      request.session.userId = 'browser'
      return 'signed in'
    })
    instance.get('/login', { config: { access: 'public' } }, async () => 'form')
  })
  const visitor = await app.inject({ url: '/me', headers: { accept: 'text/html' } })
  t.equal(visitor.headers.location, '/login?returnTo=%2Fme')
  const forged = { 'sec-fetch-site': 'cross-site' }
  t.equal((await app.inject({ method: 'POST', url: '/login', headers: forged })).statusCode, 403)
  const cookies = cookieOf(await app.inject({ method: 'POST', url: '/login' }))
  t.equal((await app.inject({ url: '/me', cookies })).body, 'browser')
  const ask = (token: string) => app.inject({ url: '/me', headers: { authorization: `Bearer ${token}` } })
  t.equal((await ask(app.jwt.sign({ sub: 'program' }))).body, 'program')
  for (const token of ['not.a.token', app.jwt.sign({ sub: 'program', exp: 1 })])
    t.equal((await ask(token)).statusCode, 401)
})
