// Callers of better-auth: it has its own routes below /api/auth, and keeps users and sessions in its database.
import { publicRoutes } from '@fastify-modular/public-routes'

/**
 * `auth` is what `betterAuth({ … })` returns; `permissionsOf` is yours. `origin` is that of your configuration, such as
 * `https://app.example.com`: links in mails would follow the Host header of a request.
 */
export async function addBetterAuth(app, { auth, origin, permissionsOf }) {
  await app.register(publicRoutes, {
    provider: {
      openapi: { session: { type: 'apiKey', in: 'cookie', name: 'better-auth.session_token' } },
      async authenticate({ headers }) {
        const found = await auth.api.getSession({ headers: toHeaders(headers) })
        return found && { id: found.user.id, permissions: await permissionsOf(found.user) }
      },
    },
    csrf: true,
    undeclared: 'refuse',
  })
  app.route({
    method: ['GET', 'POST'],
    url: '/api/auth/*',
    exposeHeadRoute: false,
    config: { access: { GET: 'public', POST: 'public' } },
    async handler(request, reply) {
      const hasBody = request.method === 'POST' && request.body !== undefined
      const answer = await auth.handler(
        new Request(new URL(request.url, origin), {
          method: request.method,
          headers: toHeaders(request.headers),
          ...(hasBody && { body: JSON.stringify(request.body) }),
        }),
      )
      for (const [name, value] of answer.headers) if (name !== 'set-cookie') reply.header(name, value)
      for (const value of answer.headers.getSetCookie()) reply.header('set-cookie', value)
      return reply.code(answer.status).send(Buffer.from(await answer.arrayBuffer()))
    },
  })
}

function toHeaders(headers) {
  const result = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    if (name !== 'content-length')
      for (const each of [value].flat()) if (each !== undefined) result.append(name, each)
  }
  return result
}
