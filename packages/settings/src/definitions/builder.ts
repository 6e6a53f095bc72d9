/** What defines the settings of a module: a map of settings, or a function of a builder. */
import type { RuleResult, SettingDefinition } from '../setting-definition.ts'
import { askRule } from '../values/validate.ts'
import type { CrossRule, Registry } from './registry.ts'
import type { SettingMap, NamedValues } from './tokens.ts'

/** Collects the definitions of one module. Problems are reported together when all modules have added theirs. */
export class SettingsBuilder {
  readonly #registry: Pick<Registry, 'add' | 'addRule'>
  readonly #module: string

  constructor(registry: Pick<Registry, 'add' | 'addRule'>, module: string) {
    this.#registry = registry
    this.#module = module
  }

  /**
   * Adds one definition.
   * @throws {FMOD_CORE_ADDED_LATE} the application is ready
   */
  add(definition: SettingDefinition): this {
    this.#registry.add(definition, this.#module)
    return this
  }

  /**
   * Adds definitions and the members of maps, in their order.
   * @throws {FMOD_CORE_ADDED_LATE} the application is ready
   */
  addAll(...sources: readonly (SettingDefinition | SettingMap)[]): this {
    for (const source of sources) {
      if (isDefinition(source)) this.add(source)
      else for (const definition of Object.values(source)) this.add(definition)
    }
    return this
  }

  /**
   * Adds a rule about several settings. It checks the values as a write would leave them, whenever one of them is
   * written; settings that depend on each other change together, in one bulk.
   * @param check returns messages that say what to enter, or nothing; synchronous
   * @throws {FMOD_CORE_ADDED_LATE} the application is ready
   */
  rule<const M extends SettingMap>(tokens: M, check: (values: NamedValues<M>) => RuleResult): this {
    this.#registry.addRule(createRule(this.#module, tokens, check))
    return this
  }
}

/** A map may have a member `key`, too: a definition, never a string. `add` refuses other values than objects. */
function isDefinition(source: SettingDefinition | SettingMap | null): source is SettingDefinition {
  return typeof source !== 'object' || source === null || typeof source.key === 'string'
}

/** Makes the rule of a module from its tokens and its function. */
export function createRule<M extends SettingMap>(
  module: string,
  tokens: M,
  check: (values: NamedValues<M>) => RuleResult,
): CrossRule {
  const names = Object.entries(tokens).map(([name, { key }]) => [name, key] as const)
  const keys = names.map(([, key]) => key)
  const isSecret = Object.values(tokens).some(({ sensitive }) => sensitive)
  return {
    module,
    keys,
    check(valueOf) {
      const values = Object.fromEntries(names.map(([name, key]) => [name, valueOf(key)]))
      // Each value fits its definition.
      return askRule(() => check(values as NamedValues<M>), { keys: keys.join(', '), isSecret })
    },
  }
}
