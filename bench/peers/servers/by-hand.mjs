// A careful Fastify application without our plugins: @fastify/cookie, @fastify/auth, problem+json by hand.
import auth from '@fastify/auth'
import cookie from '@fastify/cookie'
import Fastify from 'fastify'
import { addRoutes } from '../../servers/routes.mjs'
import { serve } from '../../support/serve.mjs'
import { missing, unauthorized, unmatched } from '../shared/problems.mjs'
import { mayRead, sessions } from '../shared/sessions.mjs'

class SignInError extends Error {}
class NotFoundError extends Error {}

function verifySession(request, _reply, done) {
  request.user = sessions.get(request.cookies.session) ?? null
  done(request.user ? undefined : new SignInError('Sign in first'))
}

function answerError(error, request, reply) {
  if (error instanceof NotFoundError)
    return reply
      .code(missing.status)
      .headers(missing.headers)
      .send(missing.body(error.message, request.url, request.id))
  if (error instanceof SignInError)
    return reply.code(unauthorized.status).headers(unauthorized.headers).send(unauthorized.body(request.id))
  return reply.send(error)
}

function answerUnmatched(request, reply) {
  reply.code(unmatched.status).headers(unmatched.headers).send(unmatched.body(request.url, request.id))
}

const app = Fastify()
app.decorateRequest('user', null)
app.setErrorHandler(answerError)
app.setNotFoundHandler(answerUnmatched)
await app.register(auth)
await app.register(cookie)
const signedIn = app.auth([verifySession])
app.addHook('onRoute', (route) => {
  if (!route.url.startsWith('/public/')) route.preHandler = signedIn
})
addRoutes(app, {
  mayRead: (request) => mayRead(request.user),
  notFound: () => new NotFoundError('Thing with ID 42 not found'),
})
app.get('/refused', () => ({ ok: false }))
await serve(app)
