/** `GET /error/{statusCode}`: an error page by its number, for links and proxies (S 4.3, decision 45). */
import type { FastifyInstance } from 'fastify'
import { isErrorStatus, statusMessage, statusTitle } from './problem.ts'
import type { Responder } from './render/responder.ts'

/** Serves the pages. They carry no data, so the route is public by its own configuration. */
export function errorRoutes(app: FastifyInstance, { show }: Pick<Responder, 'show'>): void {
  app.get<{ Params: { statusCode: string } }>(
    '/error/:statusCode',
    { config: { public: ['GET'] }, schema: { hide: true } },
    function showErrorPage(request, reply) {
      const status = parseStatus(request.params.statusCode)
      if (status === undefined) return reply.callNotFound()
      const props = { status, title: statusTitle(status), message: statusMessage(status) }
      // A page about an error answers as that error; search engines would otherwise keep it.
      show(request, reply, props, isErrorStatus(status) ? status : 200)
    },
  )
}

function parseStatus(text: string): number | undefined {
  return /^[1-5]\d\d$/.test(text) ? Number(text) : undefined
}
