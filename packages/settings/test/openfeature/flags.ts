/** An application with flags of every scope, for callers that a header names. */
import { setting, settings, SettingScope, type SettingsOptions } from '@fastify-modular/settings'
import { ofrep, type OfrepOptions } from '@fastify-modular/settings/openfeature'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { callerByHeader, type CallerName } from '../support/app.ts'

const { Application, System, User } = SettingScope
const flag = true

/** `shop.title` is no flag; all others are. */
export const flags = {
  checkout: setting.bool('shop.checkout', {
    displayName: 'Checkout',
    scope: Application,
    default: false,
    flag,
  }),
  limit: setting.number('shop.limit', { displayName: 'Limit', scope: System, default: 10, flag }),
  theme: setting.text('shop.theme', { displayName: 'Theme', scope: User, default: 'light', flag }),
  layout: setting.json('shop.layout', { displayName: 'Layout', scope: User, default: { columns: 2 }, flag }),
  title: setting.text('shop.title', { displayName: 'Title', scope: Application, default: 'Shop' }),
}

interface Init extends OfrepOptions {
  readonly settingsOptions?: SettingsOptions
  readonly server?: FastifyServerOptions
  /** Registered before settings. */
  readonly before?: (app: FastifyInstance) => unknown
}

/** The application, ready, closed by the test. */
export async function createShop(
  t: { teardown(close: () => unknown): unknown },
  { settingsOptions, server, before, ...options }: Init = {},
): Promise<FastifyInstance> {
  const app = Fastify(server)
  t.teardown(() => app.close())
  await before?.(app)
  app.register(settings, { definitions: [flags], findCaller: callerByHeader, ...settingsOptions })
  app.register(ofrep, { findCaller: callerByHeader, ...options })
  await app.ready()
  return app
}

/** Evaluates a flag, or all of them, as a caller. */
export async function evaluate(
  app: FastifyInstance,
  caller: CallerName | null,
  key?: string,
  context?: object,
  headers: Record<string, string> = {},
) {
  const {
    statusCode,
    headers: answered,
    payload,
  } = await app.inject({
    method: 'POST',
    url: `/ofrep/v1/evaluate/flags${key === undefined ? '' : `/${key}`}`,
    headers: { ...(caller && { 'x-caller': caller }), ...headers },
    payload: context ? { context } : {},
  })
  return { status: statusCode, headers: answered, payload, body: payload && JSON.parse(payload) }
}
