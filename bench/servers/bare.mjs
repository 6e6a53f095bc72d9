// Fastify without any plugin, with a 401 written by hand.
import Fastify from 'fastify'
import { serve } from '../support/serve.mjs'
import { addRoutes } from './routes.mjs'

const app = Fastify()
addRoutes(app, {
  mayRead: () => true,
  notFound: () => Object.assign(new Error('Thing 42 was not found.'), { statusCode: 404 }),
})

const unauthorized = JSON.stringify({
  type: 'about:blank',
  title: 'Unauthorized',
  status: 401,
  detail: 'Sign in to access this resource.',
  code: 'UNAUTHORIZED',
}).slice(0, -1)
app.get('/refused', {
  onRequest(request, reply) {
    reply
      .code(401)
      .header('content-type', 'application/problem+json')
      .header('cache-control', 'no-store')
      .header('vary', 'accept, authorization, cookie, x-inertia')
      .header('www-authenticate', 'Bearer')
      .send(`${unauthorized},"requestId":${JSON.stringify(request.id)}}`)
  },
  handler: () => ({ ok: false }),
})
await serve(app)
