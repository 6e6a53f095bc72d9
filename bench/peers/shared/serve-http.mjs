// Serves frameworks that hand out a server of node:http.
import { serve } from '../../support/serve.mjs'

/** Like `serve`; idle connections stay open as long as with Fastify's default, as one sets behind a proxy. */
export function serveHttp(server) {
  server.keepAliveTimeout = 72_000
  return serve({ server, listen: (options) => new Promise((resolve) => server.listen(options, resolve)) })
}
