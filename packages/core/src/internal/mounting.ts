/** Which module is being mounted: plugins learn from it to which module a route belongs. */
import type { FastifyInstance } from 'fastify'
import { accessOfPlugin, contributions } from '../symbols.ts'
import { getDecorator } from './decorators.ts'

/** Where modules meet the plugins of an application (contributions.ts). */
export interface Mounting {
  /** The name of a module. */
  mounting: string | undefined
}

/**
 * The name of the module whose plugin is being registered; undefined between modules. Fastify registers one plugin after
 * the other, so that everything that happens in the meantime belongs to this module, also where its plugin has no scope
 * of its own.
 */
export function mountingModule(app: FastifyInstance): string | undefined {
  return app.hasDecorator(contributions) ? getDecorator<Mounting>(app, contributions).mounting : undefined
}

/** Who may call the routes of a plugin of ours, beside what each of them needs: `signed-in`, or permissions. */
export type AccessOfPlugin =
  | string
  | { readonly allOf: readonly string[] }
  | { readonly anyOf: readonly string[] }

/** Takes the option `access` of a plugin of ours for the routes of a scope. Returns why it cannot be; null where it can. */
export function declareAccess(
  scope: FastifyInstance,
  options: { readonly access?: AccessOfPlugin },
): string | null {
  const { access } = options
  if (access === undefined && Object.hasOwn(options, 'access'))
    return 'access is undefined; leave it out, or correct the name of the constant'
  if (access !== undefined && !scope.hasDecorator('publicRoutes'))
    return 'access needs the gate of @fastify-modular/public-routes, registered before this plugin'
  const said: unknown = access ?? 'signed-in'
  scope.decorate(accessOfPlugin, said)
  return null
}
