/** Which module is being mounted: plugins learn from it to which module a route belongs. */
import type { FastifyInstance } from 'fastify'
import { mounting as decorator } from '../symbols.ts'
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
