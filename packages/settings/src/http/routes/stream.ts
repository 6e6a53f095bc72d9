/** `GET /stream` and `GET /public/stream`: changes as they happen, as server-sent events. */
import { ForbiddenException } from '@fastify-modular/core'
import { Type } from '@sinclair/typebox'
import type { preHandlerHookHandler } from 'fastify'
import type { SettingsService } from '../../create-settings.ts'
import { callerOf, openRoute } from '../access.ts'
import { operation } from '../operation.ts'
import type { SettingsApp } from '../schemas.ts'

const Events = Type.Unsafe({
  description: 'Server-sent events: `snapshot` and `change` with settings, `own`, `over`',
  headers: { 'X-Accel-Buffering': { type: 'string', description: 'no: a proxy passes events on at once' } },
  content: { 'text/event-stream': { schema: { type: 'string' } } },
})

/** Registers the streams that the plugin's option wants. */
export function addStreamRoutes(
  app: SettingsApp,
  { streams }: Pick<SettingsService, 'streams'>,
  option: false | { readonly public?: boolean },
): void {
  if (option === false) return
  // The log would have a line for each question about a caller, and say at the end how long a stream was open.
  const route = { exposeHeadRoute: false, logLevel: 'warn', preHandler: refuseCrossSite } as const
  app.addHook('preClose', () => streams.close())
  app.get(
    '/stream',
    {
      ...operation({
        operationId: 'streamSettings',
        summary: 'Settings as they change; sensitive and long values are left out',
        ok: Events,
        isStream: true,
      }),
      ...route,
    },
    (request, reply) => streams.answer(request, reply, callerOf(request).id),
  )
  if (option.public === false) return
  app.get(
    '/public/stream',
    {
      ...operation({
        operationId: 'streamPublicSettings',
        summary: 'Public settings as they change',
        ok: Events,
        isStream: true,
      }),
      ...route,
      config: openRoute,
    },
    (request, reply) => streams.answer(request, reply, null),
  )
}

/** A page of another site would use up the streams that its visitor may have. */
const refuseCrossSite: preHandlerHookHandler = ({ headers }, _reply, done) => {
  const isCrossSite = headers['sec-fetch-site'] === 'cross-site'
  done(isCrossSite ? new ForbiddenException('Another site may not open a stream of settings.') : undefined)
}
