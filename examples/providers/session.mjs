// Callers of @fastify/session: who signed in is kept on the server, and the browser has a signed cookie.
import cookie from '@fastify/cookie'
import session from '@fastify/session'
import { publicRoutes } from '@fastify-modular/public-routes'

/** Replace `check` and `find` by yours: they return the caller of valid credentials and the one with an id, or null. */
export async function addSessions(app, { secret, check, find }) {
  await app.register(cookie)
  await app.register(session, {
    secret,
    saveUninitialized: false,
    cookie: { secure: 'auto', sameSite: 'lax' },
  })
  await app.register(publicRoutes, {
    provider: {
      loginUrl: '/login',
      openapi: { session: { type: 'apiKey', in: 'cookie', name: 'sessionId' } },
      authenticate: ({ session }) => (session.get('account') ? find(session.get('account')) : null),
      challenge: () => 'Cookie realm="app", form-action="/login", cookie-name="sessionId"', // not the default, Bearer
    },
    csrf: true, // sessions are cookies: refuse writes from other origins
    undeclared: 'refuse',
  })
  app.get('/login', { config: { access: 'public' } }, async (_request, reply) =>
    reply
      .type('text/html')
      .send('<form method="post"><input name="user"><input name="password" type="password"></form>'),
  )
  app.post('/login', { config: { access: 'public' } }, async (request, reply) => {
    const caller = await check(request.body)
    if (caller === null) return reply.code(401).send()
    await request.session.regenerate() // against session fixation
    request.session.set('account', caller.id)
    return reply.code(204).send()
  })
  app.post('/logout', { config: { access: 'signed-in' } }, async (request, reply) => {
    await request.session.destroy()
    return reply.code(204).send()
  })
}
