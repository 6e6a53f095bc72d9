/** Applications whose routes declare access, for tests. */
import { type Module, modules } from '@fastify-modular/core'
import type { PublicRoutesOptions } from '@fastify-modular/public-routes'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import type { Test } from 'tap'
import { gatedApp } from './application.ts'

export const ran = async () => 'ran'

/** The status for an anonymous caller and for one that holds nothing: 401/403 is a permission, 401/200 signed in. */
export async function statuses(
  app: FastifyInstance,
  url: string,
  method: 'GET' | 'POST' = 'GET',
): Promise<string> {
  const anonymous = await app.inject({ method, url })
  const known = await app.inject({ method, url, headers: { 'x-user': 'alice' } })
  return `${anonymous.statusCode}/${known.statusCode}`
}

/** An application with the permissions Notes.Edit and Ops.Read. */
export async function booted(
  t: Test,
  addRoutes: FastifyPluginAsync,
  options: Partial<PublicRoutesOptions> = {},
): Promise<FastifyInstance> {
  const permissions = { 'Notes.Edit': 'Edit notes', 'Ops.Read': {} }
  const app = await gatedApp(t, { defaults: false, permissions, ...options })
  await app.register(fp(addRoutes))
  return app
}

/** A gated application with these modules. */
export async function withModules(
  t: Test,
  list: readonly Module[],
  options: Partial<PublicRoutesOptions> = {},
): Promise<FastifyInstance> {
  const app = await gatedApp(t, { defaults: false, ...options })
  await app.register(modules, { modules: list })
  return app
}
