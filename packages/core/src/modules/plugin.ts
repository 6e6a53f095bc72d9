/** Mounts the modules of an application: order, contributions, bodies, lifecycle. */
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { deliverContributions, refuseSecondDelivery } from '../contributions.ts'
import type { EventBus } from '../events/bus.ts'
import { events } from '../events/plugin.ts'
import { branded, getDecorator, hasOwnDecorator } from '../internal/decorators.ts'
import { supportedFastify } from '../internal/supported-fastify.ts'
import { logFailure } from '../internal/failures.ts'
import { whileMounting } from '../internal/mounting.ts'
import { option, optionProblems, type OptionsSchema, Type } from '../internal/options.ts'
import { FMOD_CORE_INVALID_MODULE, refuseOptions } from '../misuse-errors.ts'
import {
  contributionsOf,
  isWrapped,
  type Module,
  type ModuleCore,
  ownMembers,
  withoutScope,
} from './module.ts'
import { orderModules } from './order.ts'

export interface ModulesOptions {
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
  app.addHook('onReady', async () => {
    for (const { onReady } of ordered) await onReady?.(app)
  })
  app.addHook('onClose', async () => {
    await getDecorator<EventBus>(app, 'events').drain() // what handlers use may close then
    await closeInReverse(app, ordered)
  })
}

/** The hooks of requests; other hooks, such as onClose, do the same in every scope. */
const ofRequests =
  /^(?:onRequest|preParsing|preValidation|preHandler|preSerialization|onSend|onResponse|onError|onTimeout|onRequestAbort)$/

/**
 * Mounts a module's plugin. One that is wrapped by fastify-plugin may decorate the application; its hooks would run for the
 * routes of all modules.
 * @throws {FMOD_CORE_INVALID_MODULE} it is wrapped and adds a hook of requests
 */
async function mount(app: FastifyInstance, { name, plugin, prefix }: ModuleCore): Promise<void> {
  if (!plugin) return
  const { addHook } = app
  function addOwnHook(this: FastifyInstance, hook: string, ...rest: unknown[]): unknown {
    if (this === app && ofRequests.test(hook))
      throw new FMOD_CORE_INVALID_MODULE(name, `it adds the hook ${hook}, and its plugin ${withoutScope}`)
    return Reflect.apply(addHook, this, [hook, ...rest])
  }
  if (isWrapped(plugin)) Object.assign(app, { addHook: addOwnHook })
  try {
    await app.register(plugin, prefix === undefined ? {} : { prefix })
  } finally {
    Object.assign(app, { addHook })
  }
}

/** One module that fails to close must not keep the others from closing. */
async function closeInReverse(app: FastifyInstance, ordered: readonly Module[]): Promise<void> {
  for (const { name, onClose } of ordered.toReversed()) {
    try {
      await onClose?.(app)
    } catch (err) {
      logFailure(app.log, 'error', { err, module: name }, 'module failed to close')
    }
  }
}

/** The modules plugin: `app.register(modules, { modules: [notes, mail] })`, after the plugins they contribute to. */
export const modules = fp(modulesPlugin, { name: '@fastify-modular/core/modules', fastify: supportedFastify })
