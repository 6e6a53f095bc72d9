/** What a module is (`Module`), and the check that one is well made. */
import type { FastifyInstance, FastifyPluginOptions } from 'fastify'
import type { Contribution, ModuleContributions } from '../contributions.ts'
import { option, type OptionsSchema, Type, wrongMembers } from '../internal/options.ts'
import { isPlainObject, safeRead } from '../internal/safe.ts'
import { errorCodes } from '../misuse-errors.ts'

/** A Fastify plugin, with callback or promise; one signature, so that its parameters need no annotation. */
type ModulePlugin = (
  app: FastifyInstance,
  options: FastifyPluginOptions,
  done: (error?: Error) => void,
) => void | Promise<void>

/** One optional member for each installed plugin that receives what modules contribute. */
type Contributions = { readonly [K in keyof ModuleContributions]?: ModuleContributions[K] }

/**
 * A module is one feature of an application: a plain object with a name, a Fastify plugin with the routes and hooks of the
 * feature, and the names of the modules that come first. What it contributes to a plugin of the application stands under the
 * name that this plugin has given it (`handlers`, `permissions`, `settings`). The modules plugin mounts a list of them.
 */
export interface Module extends Contributions {
  /** Unique among the modules of an application. */
  readonly name: string
  /** Names of the modules that come first. */
  readonly dependsOn?: readonly string[]
  /** Names of modules that come first where the application has them. */
  readonly optionalDependsOn?: readonly string[]
  /**
   * The module's routes and hooks, mounted as an encapsulated plugin after all contributions were delivered. Modules mount in
   * dependency order, so their `onReady` hooks run in it, and their `onClose` hooks in reverse.
   */
  readonly plugin?: ModulePlugin
  /** Path prefix of the routes in `plugin`. */
  readonly prefix?: string
}

/** Types a module declaration. Not generic, so that a misspelt hook is a compile error. */
export function defineModule(module: Module): Module {
  return module
}

/** The members that are the module's own, and what each must be. Every other member is a contribution. */
const expected: OptionsSchema<Omit<Module, keyof ModuleContributions>> = Type.Object({
  name: option.required(Type.String({ minLength: 1, description: 'a string of one or more characters' })),
  dependsOn: option.names('a list of names'),
  optionalDependsOn: option.names('a list of names'),
  plugin: option.function(),
  prefix: option.string(),
})

/** The members of a module that are not contributions. */
export const ownMembers: ReadonlySet<string> = new Set(Object.keys(expected.properties))

/**
 * Checks what TypeScript cannot: Fastify would report an invalid plugin without the name of its module.
 * @throws {FMOD_CORE_INVALID_MODULE} with all members of the wrong type, or a contribution that is undefined, or a
 *   prefix or an access that its plugin, wrapped by fastify-plugin, leaves without effect; or it is not a plain object
 */
export function checkModule(module: unknown): void {
  const problem = problemOf(module)
  if (problem !== undefined)
    throw new errorCodes.FMOD_CORE_INVALID_MODULE(String(safeRead(module, 'name')), problem)
}

function problemOf(module: unknown): string | undefined {
  const wrong = wrongMembers(expected, module)
  if (wrong.length > 0) return wrong.join('; ')
  if (!isPlainObject(module)) return 'it is not a plain object, whose members are its own'
  const lost = ['prefix', 'access'].find((member) => module[member] !== undefined)
  if (lost !== undefined && isWrapped(module['plugin']))
    return `it has ${lost}, and its plugin ${withoutScope}`
  const missing = Object.entries(module).find(
    ([member, value]) => value === undefined && !ownMembers.has(member),
  )
  return missing && `its ${missing[0]} is undefined; leave it out, or correct the name of the constant`
}

/** Completes a sentence about a plugin: why it cannot be mounted as it is, and what to do. */
export const withoutScope =
  'is wrapped by fastify-plugin, which takes its scope away. Remove the wrapper, or decorate in a module of its own'

/** Whether fastify-plugin has taken a plugin's scope away. */
export function isWrapped(plugin: unknown): boolean {
  return safeRead(plugin, Symbol.for('skip-override')) === true
}

/** Every member that is not the module's own is a contribution, but for the hooks that the host ignores. */
export function contributionsOf(module: Module, ignoreContributions: readonly string[]): Contribution[] {
  return Object.entries(module)
    .filter(([hook]) => !ownMembers.has(hook) && !ignoreContributions.includes(hook))
    .map(([hook, value]) => ({ module: module.name, hook, value: value as unknown }))
}
