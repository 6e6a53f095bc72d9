/** The option `access` of our own plugins. */
import type { FastifyInstance } from 'fastify'
import { accessOfPlugin } from '../symbols.ts'

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
