/** Mounts the modules of an application: order, contributions, plugins. */
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { deliverContributions, refuseSecondDelivery, whileMounting } from '../contributions.ts'
import type { EventBus } from '../events/bus.ts'
import { events } from '../events/plugin.ts'
import { branded, getDecorator, hasOwnDecorator } from '../internal/decorators.ts'
import { checkCalls, supportedFastify } from '../internal/fastify-internals.ts'
import { option, optionProblems, type OptionsSchema, refuseOptions, Type } from '../internal/options.ts'
import { errorCodes } from '../misuse-errors.ts'
import { contributionsOf, isWrapped, type Module, ownMembers, withoutScope } from './module.ts'
import { orderModules } from './order.ts'

interface ModulesOptions {
  readonly modules: readonly Module[]
  /** Hooks that need no plugin to receive them: what modules contribute to these is ignored on purpose. */
  readonly ignoreContributions?: readonly string[]
}

const schema: OptionsSchema<ModulesOptions> = Type.Object({
  modules: option.required(Type.Array(Type.Unknown(), { description: 'an array of modules' })),
  ignoreContributions: option.names('an array of names of hooks'),
})

const modulesPlugin: FastifyPluginAsync<ModulesOptions> = async (app, options) => {
  refuseOptions('the modules plugin', optionProblems(schema, options))
  const { modules, ignoreContributions = [] } = options
  const ordered = orderModules(modules)
  refuseSecondDelivery(app)
  hasOwnDecorator(app, 'modules') // refuses one of the application
  if (!hasOwnDecorator(app, 'events')) await app.register(events)
  const contributions = ordered.flatMap((module) => contributionsOf(module, ignoreContributions))
  await deliverContributions(app, contributions, ownMembers)
  app.decorate('modules', Object.freeze(branded(ordered)))

  for (const module of ordered) await whileMounting(app, module.name, () => mount(app, module))
  // Close hooks run in reverse: what handlers use may close after this.
  app.addHook('onClose', () => getDecorator<EventBus>(app, 'events').drain())
}

/**
 * Mounts a module's plugin. One that is wrapped by fastify-plugin may decorate the application, and close what it has opened:
 * its other hooks would run for all modules, or before those of modules that come first.
 * @throws {FMOD_CORE_INVALID_MODULE} it is wrapped and adds another hook
 */
async function mount(app: FastifyInstance, { name, plugin, prefix }: Module): Promise<void> {
  if (!plugin) return
  const register = () => app.register(plugin, prefix === undefined ? {} : { prefix })
  if (!isWrapped(plugin)) {
    await register()
    return
  }
  const end = checkCalls(app, 'addHook', (scope, hook) => {
    if (scope !== app || hook === 'onClose' || hook === 'preClose') return
    throw new errorCodes.FMOD_CORE_INVALID_MODULE(
      name,
      `it adds the hook ${String(hook)}, and its plugin ${withoutScope}`,
    )
  })
  try {
    await register()
  } finally {
    end()
  }
}

/** The modules plugin: `app.register(modules, { modules: [notes, mail] })`, after the plugins they contribute to. */
export const modules = fp(modulesPlugin, { name: '@fastify-modular/core/modules', fastify: supportedFastify })
