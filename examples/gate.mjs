// The gate alone: whatever is not public needs a known caller, also routes that do not exist.
//
//   node examples/gate.mjs
//   curl -i localhost:3000/status                                         # 200 "ok"
//   curl -i localhost:3000/me                                             # 401 Unauthorized
//   curl -i localhost:3000/me -H 'authorization: Bearer alice-token'      # 200 "id":"alice"
//   curl -i localhost:3000/missing                                        # 401 Unauthorized
//   curl -i localhost:3000/missing -H 'authorization: Bearer alice-token' # 404 not found
import Fastify from 'fastify'
import { requireCaller } from '@fastify-modular/core'
import { publicRoutes } from '@fastify-modular/public-routes'

const callers = new Map([['Bearer alice-token', { id: 'alice' }]])

const app = Fastify({ logger: true })
await app.register(publicRoutes, {
  // Called once for each request; null is an anonymous one. Yours reads a session or verifies a token.
  provider: { authenticate: ({ headers }) => callers.get(headers.authorization) ?? null },
})

app.get('/status', { config: { access: 'public' } }, async () => ({ status: 'ok' }))
app.get('/me', async (request) => ({ id: requireCaller(request).id }))

await app.listen({ port: Number(process.env.PORT ?? 3000) })
