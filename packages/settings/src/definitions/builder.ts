/** What a module's `settings(builder)` hook receives (S 2.1). */
import type { SettingDefinition } from '../setting-definition.ts'
import type { Registry } from './registry.ts'

/** Definitions by any names: `{ host: setting.text('mail.host', …), port: setting.number('mail.port', …) }`. */
export type TokenMap = Readonly<Record<string, SettingDefinition>>

/** Collects the definitions of one module. Problems are reported together when all modules have added theirs. */
export class SettingsBuilder {
  readonly #registry: Pick<Registry, 'add'>
  readonly #module: string

  constructor(registry: Pick<Registry, 'add'>, module: string) {
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
}

/** A token map may have a member `key` too: a definition, never a string. */
function isDefinition(source: SettingDefinition | TokenMap): source is SettingDefinition {
  return typeof source.key === 'string'
}
