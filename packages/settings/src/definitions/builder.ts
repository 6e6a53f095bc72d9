/** What a module's `settings(builder)` hook receives (S 2.1). */
import type { RuleResult, SettingDefinition } from '../setting-definition.ts'
import type { Registry } from './registry.ts'
import { createRule, type RuleTokens, type RuleValues } from './rules.ts'

/** Definitions by any names: `{ host: setting.text('mail.host', …), port: setting.number('mail.port', …) }`. */
export type TokenMap = Readonly<Record<string, SettingDefinition>>

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
   * @throws {FMOD_SETTINGS_FROZEN} the application is ready
   */
  add(definition: SettingDefinition): this {
    this.#registry.add(definition, this.#module)
    return this
  }

  /**
   * Adds definitions and the members of token maps, in their order.
   * @throws {FMOD_SETTINGS_FROZEN} the application is ready
   */
  addAll(...sources: readonly (SettingDefinition | TokenMap)[]): this {
    for (const source of sources) {
      if (isDefinition(source)) this.add(source)
      else for (const definition of Object.values(source)) this.add(definition)
    }
    return this
  }

  /**
   * Adds a rule about several settings. It is asked about the values as a write would leave them, whenever one of them
   * is written; so settings that depend on each other change together, in one bulk.
   * @param check returns messages that say what to enter, or nothing; synchronous
   * @throws {FMOD_SETTINGS_FROZEN} the application is ready
   */
  rule<const M extends RuleTokens>(tokens: M, check: (values: RuleValues<M>) => RuleResult): this {
    this.#registry.addRule(createRule(this.#module, tokens, check))
    return this
  }
}

/** A token map may have a member `key` too: a definition, never a string. What is no object is for `add` to refuse. */
function isDefinition(source: SettingDefinition | TokenMap | null): source is SettingDefinition {
  return typeof source !== 'object' || source === null || typeof source.key === 'string'
}
