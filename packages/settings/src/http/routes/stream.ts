/** `GET /stream` and `GET /public/stream`: changes as they happen, as server-sent events. */
import { ForbiddenException } from '@fastify-modular/core'
import { Type } from '@sinclair/typebox'
import type { FastifyRequest, preHandlerHookHandler } from 'fastify'
import { callerOf, openRoute } from '../access.ts'
import type { RouteContext } from '../context.ts'
import { operation } from '../operation.ts'

/** What both routes have in common. */
const described = {
  ok: Type.Unsafe({
    description: 'Server-sent events: `own`; `snapshot` and `change` with settings; `read`, `open`, `over`',
    headers: { 'X-Accel-Buffering': { type: 'string', description: 'no: a proxy passes events on at once' } },
    content: { 'text/event-stream': { schema: { type: 'string' } } },
  }),
  isStream: true,
  tooMany: 'Too many streams are open',
}

/** Registers the streams, unless the option `stream` has none. */
export function addStreamRoutes({ app, service, options: { stream }, tenantOf }: RouteContext): void {
  if (stream === false) return
  const { streams } = service
  /** Undefined without the option `tenants`: nobody is asked, and nothing waits. */
  const tenantIdOf = service.findMembership
    ? async (request: FastifyRequest) => (await tenantOf(request))?.id ?? null
    : () => undefined
  // The log would have a line for each question about a caller, and say at the end how long a stream was open.
  const route = { exposeHeadRoute: false, logLevel: 'warn' } as const
  app.addHook('preClose', () => streams.close())
  const summary = 'Settings as they change; sensitive and long values are left out'
  app.get(
    '/stream',
    {
      ...operation({ operationId: 'streamSettings', summary, ...described }),
      ...route,
      preHandler: refuseForeign([]),
    },
    (request, reply) =>
      streams.answer(request, reply, {
        callerId: callerOf(request).id,
        findTenant: () => tenantIdOf(request),
      }),
  )
  if (stream?.public === false) return
  app.get(
    '/public/stream',
    {
      ...operation({
        operationId: 'streamPublicSettings',
        summary: 'Public settings as they change',
        ...described,
      }),
      ...route,
      preHandler: refuseForeign(['*']),
      config: openRoute,
    },
    (request, reply) =>
      streams.answer(request, reply, { callerId: null, findTenant: () => tenantIdOf(request) }),
  )
}

/**
 * A page of another origin would use up the streams that its visitor may have. It may open what CORS lets it read: by the name
 * of its origin, with cookies only where these are allowed, else also as one of `others`.
 */
function refuseForeign(others: readonly string[]): preHandlerHookHandler {
  return function refuseForeignPage({ headers }, reply, done) {
    const { origin, cookie, 'sec-fetch-site': site = 'none' } = headers
    const isOwn = site === 'same-origin' || site === 'none'
    const admitted = String(reply.getHeader('access-control-allow-origin'))
    const mayRead =
      cookie === undefined
        ? admitted === origin || others.includes(admitted)
        : admitted === origin && reply.getHeader('access-control-allow-credentials') === 'true'
    done(
      isOwn || mayRead
        ? undefined
        : new ForbiddenException('A page of another origin may not open this stream.'),
    )
  }
}
