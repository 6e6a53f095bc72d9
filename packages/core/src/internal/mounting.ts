/** Which module is being mounted: plugins learn from it to which module a route belongs. */
import type { FastifyInstance } from 'fastify'
import { accessOfPlugin, mounting as decorator } from '../symbols.ts'
import { getDecorator } from './decorators.ts'

interface Mounting {
  module: string | undefined
}

/**
 * The name of the module whose plugin is being registered; undefined between modules. Fastify registers one plugin after
 * the other, so that everything that happens in the meantime belongs to this module, also where its plugin has no scope
 * of its own.
 */
export function mountingModule(app: FastifyInstance): string | undefined {
  return app.hasDecorator(decorator) ? getDecorator<Mounting>(app, decorator).module : undefined
}

/** Runs `mount`, during which `mountingModule` names the module. */
export async function whileMounting(
  app: FastifyInstance,
  module: string,
  mount: () => PromiseLike<unknown>,
): Promise<void> {
  if (!app.hasDecorator(decorator)) app.decorate(decorator, { module: undefined } satisfies Mounting)
  const mounting = getDecorator<Mounting>(app, decorator)
  mounting.module = module
  try {
    await mount()
  } finally {
    mounting.module = undefined
  }
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
