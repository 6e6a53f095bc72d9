// Fastify with a handler for unmatched requests, written by hand, that answers with the same head and body as ours.
import Fastify from 'fastify'
import { serve } from '../support/serve.mjs'
import { addRoutes } from './routes.mjs'

const app = Fastify()
addRoutes(app, {
  mayRead: () => true,
  notFound: () => Object.assign(new Error('Thing 42 was not found.'), { statusCode: 404 }),
})

const notFound = JSON.stringify({
  type: 'about:blank',
  title: 'Not Found',
  status: 404,
  code: 'NOT_FOUND',
  detail: 'The requested resource was not found.',
}).slice(0, -1)
const asItIs = (text) => text
app.setNotFoundHandler((request, reply) => {
  reply
    .code(404)
    .header('vary', 'Accept, X-Inertia')
    .header('content-type', 'application/problem+json')
    .header('cache-control', 'no-store')
    .header('x-content-type-options', 'nosniff')
    .serializer(asItIs)
    .send(`${notFound},"instance":${JSON.stringify(request.url)},"requestId":${JSON.stringify(request.id)}}`)
})
await serve(app)
