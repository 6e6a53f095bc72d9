/** The icon that browsers ask for, whatever page they show. */
import type { RouteOptions } from 'fastify'

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="3" y="3" width="26" height="26" rx="8" fill="#3b82f6"/></svg>'

export const favicon: RouteOptions = {
  method: 'GET',
  url: '/favicon.ico',
  schema: { hide: true },
  config: { public: ['GET'] },
  handler: (_request, reply) =>
    reply.type('image/svg+xml').header('cache-control', 'public, max-age=86400').send(icon),
}
