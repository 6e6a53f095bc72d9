/** An application with settings, whose requests name their caller by a header. */
import { type Caller, isDomainException } from '@fastify-modular/core'
import {
  setting,
  type ValuesOf,
  settings,
  SettingScope,
  type SettingsOptions,
} from '@fastify-modular/settings'
import Fastify, {
  type FastifyInstance,
  type FastifyServerOptions,
  type InjectOptions,
  type RouteOptions,
} from 'fastify'
import type { Test } from 'tap'

export const admin: Caller = { id: 'admin', isAdmin: true }
export const editor: Caller = { id: 'editor', permissions: ['Settings.Update'] }
export const alice: Caller = { id: 'alice' }
export const bob: Caller = { id: 'bob' }
const callers = { admin, editor, alice, bob }
export type CallerName = keyof typeof callers

const { System, Application, User } = SettingScope

/** One setting of every kind that the rules tell apart. */
export const definitions = {
  title: setting.text('app.title', {
    displayName: 'Title',
    scope: Application,
    group: 'General',
    required: true,
    default: 'Fastify Modular',
  }),
  banner: setting.multilineText('app.banner', {
    displayName: 'Banner',
    scope: Application,
    group: 'General',
    order: 2,
  }),
  color: setting.color('app.primary_color', {
    displayName: 'Colour',
    scope: Application,
    group: 'Appearance',
    default: '#3b82f6',
    public: true,
  }),
  email: setting.email('app.support_email', {
    displayName: 'Support',
    scope: Application,
    group: 'General',
    order: 1,
  }),
  features: setting.json('app.feature_json', { displayName: 'Features', scope: Application, default: {} }),
  secret: setting.text('app.api_secret', { displayName: 'Secret', scope: Application, sensitive: true }),
  theme: setting.select('app.theme', {
    displayName: 'Theme',
    scope: User,
    group: 'Appearance',
    allowedValues: ['light', 'dark', 'system'],
    default: 'light',
  }),
  density: setting.select('user.preferred_density', {
    displayName: 'Density',
    scope: User,
    group: 'Appearance',
    allowedValues: ['compact', 'comfortable', 'spacious'],
    default: 'comfortable',
  }),
  token: setting.password('user.token', { displayName: 'Token', scope: User, sensitive: true }),
  maintenance: setting.bool('system.maintenance_mode', {
    displayName: 'Maintenance',
    scope: System,
    default: false,
  }),
  port: setting.number('mail.port', {
    displayName: 'Port',
    scope: System,
    group: 'Mail',
    default: 587,
    min: 1,
    max: 65535,
  }),
  password: setting.password('mail.password', {
    displayName: 'Password',
    scope: System,
    group: 'Mail',
    sensitive: true,
  }),
}

declare module '@fastify-modular/settings' {
  interface SettingKeyMap extends ValuesOf<typeof definitions> {}
}

const routes = new WeakMap<FastifyInstance, RouteOptions[]>()

/** The routes that an application registered, so that a rule can be tested on all of them. */
export function routesOf(app: FastifyInstance): readonly RouteOptions[] {
  return routes.get(app) ?? []
}

/** An application that is ready, closed by the test. */
export async function createApp(
  t: { teardown(close: () => unknown): unknown },
  options: SettingsOptions = {},
  server: FastifyServerOptions = {},
): Promise<FastifyInstance> {
  const app = Fastify({ pluginTimeout: 60_000, ...server })
  t.teardown(() => app.close())
  const registered: RouteOptions[] = []
  routes.set(app, registered)
  app.addHook('onRoute', (route) => void registered.push(route))
  app.register(settings, { definitions: [definitions], findCaller: callerByHeader, ...options })
  app.after(() => {
    if (!app.hasDecorator('settings') || options.definitions) return
    const { email, secret } = definitions
    app.settings.resource('support', { email, secret }, { create: () => ({}), probe: () => 'It answers.' })
  })
  await app.ready()
  return app
}

/** Finds the caller that `as` names. */
export function callerByHeader(request: { headers: Record<string, unknown> }): Caller | null {
  const name = String(request.headers['x-caller'])
  return isCallerName(name) ? callers[name] : null
}

function isCallerName(name: string): name is CallerName {
  return Object.hasOwn(callers, name)
}

/** Requests below `/api/settings` as a caller, or without one. */
export function as(app: FastifyInstance, caller: CallerName | null) {
  return async function request(
    method: NonNullable<InjectOptions['method']>,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) {
    const response = await app.inject({
      method,
      url: `/api/settings${path}`,
      headers: {
        ...(caller && { 'x-caller': caller }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = response.payload
    const type = String(response.headers['content-type'] ?? '')
    return {
      status: response.statusCode,
      headers: response.headers,
      text,
      type,
      json: type.includes('json') ? JSON.parse(text) : undefined,
    }
  }
}

/** A status, and the request that it answers; the caller is an administrator where none is named. */
export type Expected = readonly [
  status: number,
  method: NonNullable<InjectOptions['method']>,
  path: string,
  body?: unknown,
  caller?: CallerName | null,
  headers?: Record<string, string>,
]

/** Makes requests one after the other, each answered with its status. */
export async function expectStatuses(
  t: Test,
  app: FastifyInstance,
  rows: readonly Expected[],
): Promise<void> {
  for (const [status, method, path, body, caller = 'admin', headers] of rows) {
    const got = await as(app, caller)(method, path, body, headers)
    t.equal(
      got.status,
      status,
      `${caller} ${method} ${path} ${JSON.stringify(body)} ${JSON.stringify(headers)}`,
    )
  }
}

/** Options of a server that logs into `lines`. */
export function logInto(lines: string[], level: 'error' | 'warn' | 'info' | 'trace' = 'warn') {
  return { logger: { level, stream: { write: (line: string) => void lines.push(line) } } }
}

/** What a promise was rejected with: the name and status of its exception. */
export async function rejection(
  promise: Promise<unknown>,
): Promise<{ name: string; status: number | undefined; error: unknown }> {
  try {
    await promise
  } catch (error) {
    const name = error instanceof Error ? error.name : typeof error
    return { name, status: isDomainException(error) ? error.statusCode : undefined, error }
  }
  return { name: 'none', status: undefined, error: undefined }
}
