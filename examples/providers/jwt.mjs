// Callers of @fastify/jwt: a bearer token carries the user and the permissions.
import jwt from '@fastify/jwt'
import { publicRoutes } from '@fastify-modular/public-routes'

export async function addBearerTokens(app, { secret }) {
  await app.register(jwt, { secret })
  await app.register(publicRoutes, {
    provider: {
      openapi: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      async authenticate(request) {
        try {
          const { sub, permissions = [] } = await request.jwtVerify()
          return { id: sub, permissions }
        } catch (error) {
          // A missing, invalid or expired token is an anonymous caller; anything else is a failure: 503.
          if (error.statusCode === 401 || error.statusCode === 400) return null
          throw error
        }
      },
    },
    undeclared: 'refuse',
  })
}
