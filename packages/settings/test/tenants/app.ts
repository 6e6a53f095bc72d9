/** An application whose callers work in organisations: a header names the caller, another one the organisation. */
import type { Caller } from '@fastify-modular/core'
import { setting, settings, SettingScope, type SettingsOptions } from '@fastify-modular/settings'
import Fastify, { type FastifyInstance, type FastifyRequest, type FastifyServerOptions } from 'fastify'

const { Application, Tenant, User } = SettingScope

export const tokens = {
  title: setting.text('app.title', { displayName: 'Title', scope: Application, default: 'Title' }),
  brand: setting.text('org.brand', { displayName: 'Brand', scope: Tenant, public: true, default: 'None' }),
  limit: setting.text('org.limit', {
    displayName: 'Limit',
    scope: Tenant,
    writePermission: 'Plans.Edit',
    default: 'none',
  }),
  secret: setting.text('org.secret', { displayName: 'Secret', scope: Tenant, sensitive: true }),
  theme: setting.text('user.theme', { displayName: 'Theme', scope: User, flag: true, default: 'light' }),
}

/** In which organisations a person is, and what may be done there. */
export type Members = Record<string, Record<string, readonly string[]>>

export const manage = ['TenantSettings.Update'] as const

export const members: Members = {
  ada: { acme: manage, bolt: [] },
  bob: { acme: [] },
  eve: { bolt: manage },
}

const callers: Readonly<Record<string, Caller>> = {
  // In some organisation ada may write: that says nothing of another one.
  ada: { id: 'ada', permissions: ['TenantSettings.Update'] },
  bob: { id: 'bob' },
  eve: { id: 'eve' },
  root: { id: 'root', isAdmin: true },
  editor: { id: 'editor', permissions: ['Settings.Update'] },
}

export function findCaller({ headers }: FastifyRequest): Caller | null {
  return callers[String(headers['x-caller'])] ?? null
}

/** The organisation that a request names, of which its caller is a member; strangers see the page of any. */
export function tenantsOf(of: Members): NonNullable<SettingsOptions['tenants']> {
  return {
    of({ headers }, caller) {
      const named = headers['settings-tenant']
      if (typeof named !== 'string') return null
      if (caller === null || caller.isAdmin) return named
      const permissions = of[caller.id]?.[named]
      return permissions ? { id: named, name: named.toUpperCase(), permissions } : null
    },
  }
}

export async function createApp(
  t: { teardown(close: () => unknown): unknown },
  options: SettingsOptions = {},
  server: FastifyServerOptions = {},
): Promise<FastifyInstance> {
  const app = Fastify({ pluginTimeout: 60_000, ...server })
  t.teardown(() => app.close())
  app.register(settings, {
    definitions: [tokens],
    findCaller,
    selfService: true,
    tenants: tenantsOf(members),
    ...options,
  })
  await app.ready()
  return app
}

/** Requests of a person who works in an organisation. */
export function as(app: FastifyInstance, caller: string | null, tenant?: string) {
  return async function request(
    method: 'GET' | 'PUT' | 'POST' | 'DELETE',
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
  ) {
    const response = await app.inject({
      method,
      url: `/api/settings${path}`,
      headers: {
        ...(caller && { 'x-caller': caller }),
        ...(tenant && { 'settings-tenant': tenant }),
        ...headers,
      },
      ...(body && { payload: body }),
    })
    const isJson = String(response.headers['content-type'] ?? '').includes('json')
    const { statusCode: status, payload: text } = response
    return { status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined }
  }
}
