/** Sessions in a cookie: the provider that the gate asks for the caller, and the routes to sign in and out. */
import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import rateLimit, { type RateLimitOptions } from '@fastify/rate-limit'
import session, { type SessionStore } from '@fastify/session'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Caller, TooManyRequestsException } from '@fastify-modular/core'
import { type AuthProvider, safeReturnTo } from '@fastify-modular/public-routes'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply } from 'fastify'

declare module 'fastify' {
  interface Session {
    /** The id of the account, and nothing of its rights. */
    account?: string
    /** Why the store does not say who has this session. */
    failure?: unknown
  }
}

/** The accounts. */
export interface SignIn {
  /** Returns the caller of valid credentials, or null. */
  check(user: string, password: string): Promise<Caller | null>
  /** Returns the caller with this id as the account is now, or null. Each request asks: a right that is taken back is gone. */
  find(id: string): Promise<Caller | null>
}

/** What the page of the form shows. */
export interface SignInForm {
  /** A path of this application: the form is sent to `/login?returnTo=` with it. */
  readonly returnTo: string
  /** The user that was entered. */
  readonly user: string
  /** Whether what was entered is wrong. */
  readonly isRefused: boolean
}

export interface SignInOptions {
  readonly signIn: SignIn
  /** Sends the page, with the status that the reply has. Browsers submit its form themselves: a document follows. */
  page(reply: FastifyReply, form: SignInForm): FastifyReply | Promise<FastifyReply>
}

/** How long a session lasts, in ms: 12 hours, used or not. */
const sessionLifetime = 12 * 60 * 60 * 1000

/** Registers what the provider needs. Without a store, sessions are in the memory of this process and end with it. */
export async function addSessions(
  app: FastifyInstance,
  { secret, store }: { secret: string; store: SessionStore | undefined },
): Promise<void> {
  await app.register(cookie)
  await app.register(session, {
    secret,
    ...(store && { store: lenient(store) }),
    cookieName: 'session',
    saveUninitialized: false,
    rolling: false,
    cookie: { secure: 'auto', sameSite: 'lax', maxAge: sessionLifetime },
  })
}

/** While the store fails, public pages and files are served: the provider tells the gate, for all that is not public. */
function lenient(store: SessionStore): SessionStore {
  const cookie = { originalMaxAge: null } // the plugin fills in its options
  return {
    set: store.set.bind(store),
    get: (id, done) =>
      store.get(id, (failure, session) => done(null, failure ? { cookie, failure } : session)),
    destroy: store.destroy.bind(store),
  }
}

export const sessionProvider = (signIn: SignIn): AuthProvider => ({
  loginUrl: '/login',
  challenge: () => 'Cookie', // the WWW-Authenticate of a 401
  openapi: { session: { type: 'apiKey', in: 'cookie', name: 'session' } },
  async authenticate({ session: { account, failure } }) {
    if (failure) throw failure
    return account === undefined ? null : await signIn.find(account)
  },
})

const ReturnTo = Type.Object({ returnTo: Type.Optional(Type.String()) })
const Credentials = Type.Object({
  user: Type.String({ maxLength: 100, pattern: '^[^\\u0000]*$' }), // PostgreSQL has no NUL in text
  password: Type.String({ maxLength: 200 }),
})

/** `/login` and `/logout`. The form parser and the limit stay inside: no other route accepts forms. */
export const signInRoutes: FastifyPluginAsyncTypebox<SignInOptions> = async (app, { signIn, page }) => {
  await app.register(formbody)
  await app.register(rateLimit, { global: false })
  // From all addresses together. Sessions that there are go on.
  const forAccount: RateLimitOptions = {
    max: 100,
    timeWindow: '1 hour',
    keyGenerator: ({ body }) => (body as Static<typeof Credentials>).user, // as the schema has it
    cache: 100_000, // names: so many others push one out, and its count with it
  }
  const countForAccount = app.createRateLimit(forAccount)

  app.get('/login', { config: { access: 'public' }, schema: { querystring: ReturnTo } }, ({ query }, reply) =>
    page(reply, { returnTo: pathIn(query), user: '', isRefused: false }),
  )

  app.post(
    '/login',
    {
      config: { access: 'public', rateLimit: { max: 10, timeWindow: '1 minute' } }, // for each address
      bodyLimit: 10_240,
      schema: { querystring: ReturnTo, body: Credentials },
    },
    async (request, reply) => {
      const { user, password } = request.body
      const attempts = await countForAccount(request)
      if (!attempts.isAllowed && attempts.isExceeded)
        throw new TooManyRequestsException(attempts.ttlInSeconds)
      const caller = await signIn.check(user, password)
      if (caller === null) {
        // Not the name as it was typed, which may be a password.
        request.log.info({ audit: 'sign-in.failure', address: request.ip }, 'a sign-in has failed')
        return page(reply.code(401), { returnTo: pathIn(request.query), user, isRefused: true })
      }
      await request.session.regenerate() // against session fixation
      request.session.set('account', caller.id)
      return reply.redirect(pathIn(request.query), 303)
    },
  )

  app.post('/logout', { config: { access: 'signed-in' } }, async (request, reply) => {
    await request.session.destroy()
    if (request.caller) app.settings.endStreams(request.caller.id) // ends the streams of open pages
    return reply.redirect('/', 303)
  })
}

/** Where signing in leads: never to another site. */
function pathIn({ returnTo }: Static<typeof ReturnTo>): string {
  return safeReturnTo(returnTo) ?? '/'
}
