/** All definitions of an application (S 2.1, S 4.2). Modules add theirs, then they are checked together and frozen. */
import { closestName } from '@fastify-modular/core'
import { FMOD_SETTINGS_FROZEN, FMOD_SETTINGS_INVALID_DEFINITIONS } from '../misuse-errors.ts'
import type { CompleteDefinition, SettingDefinition, SettingScope } from '../setting-definition.ts'
import { defaultLimits, type ValueLimits } from '../values/limits.ts'
import type { RegisteredSetting } from '../values/registered-setting.ts'
import { registerDefinition } from './register.ts'
import type { CrossRule } from './rules.ts'
import { checkCondition } from './check-condition.ts'

export type { RegisteredSetting }

/** The definitions of all modules, read-only (S 4.2). */
export interface SettingDefinitions {
  /** In the order of registration; all, or those of one scope. */
  getDefinitions(scope?: SettingScope): readonly CompleteDefinition[]
  getDefinition(key: string): CompleteDefinition | null
}

/** The registry as the plugin uses it; other code sees `SettingDefinitions`. */
export interface Registry extends SettingDefinitions {
  /**
   * Adds a definition. What is wrong with it is remembered for `check`. The very same object again changes nothing.
   * @throws {FMOD_SETTINGS_FROZEN} after `freeze`
   */
  add(definition: SettingDefinition, module: string): void
  /** @throws {FMOD_SETTINGS_FROZEN} after `freeze` */
  addRule(rule: CrossRule): void
  /** The rules that look at a setting. */
  rulesOf(key: string): readonly CrossRule[]
  /** @throws {FMOD_SETTINGS_INVALID_DEFINITIONS} all problems of all modules */
  check(): void
  /** What is legal and probably not meant, for the boot log. */
  warnings(): readonly string[]
  freeze(): void
  find(key: string): RegisteredSetting | undefined
  /** In the order of registration. */
  all(): readonly RegisteredSetting[]
  /** The key that somebody who mistyped probably meant. */
  closest(key: string): string | undefined
}

/** Creates an empty registry. */
export function createDefinitionRegistry(limits: ValueLimits = defaultLimits): Registry {
  return new DefinitionRegistry(limits)
}

class DefinitionRegistry implements Registry {
  readonly #limits: ValueLimits
  readonly #settings = new Map<string, RegisteredSetting>()
  /** The objects that modules handed in, and who did, by key in lower case: keys that differ in case only are twins. */
  readonly #declared = new Map<string, { readonly definition: SettingDefinition; readonly module: string }>()
  readonly #rules: CrossRule[] = []
  readonly #problems: string[] = []
  readonly #warnings: string[] = []
  #frozen = false

  constructor(limits: ValueLimits) {
    this.#limits = limits
  }

  add(definition: SettingDefinition, module: string): void {
    const key = keyOf(definition)
    if (this.#frozen) throw new FMOD_SETTINGS_FROZEN(key ?? '')
    if (key === undefined) {
      this.#problems.push(
        `the module "${module}" adds something that is no setting definition: it has no key`,
      )
      return
    }
    const twin = this.#declared.get(key.toLowerCase())
    if (twin && twin.definition === definition) return
    const where = `setting "${key}" (module "${module}"): `
    if (twin) {
      this.#problems.push(`${where}the module "${twin.module}" defines it as "${twin.definition.key}"`)
      return
    }
    this.#declared.set(key.toLowerCase(), { definition, module })
    const { setting, problems, warnings } = registerDefinition(definition, module, this.#limits)
    this.#problems.push(...problems.map((problem) => where + problem))
    this.#warnings.push(...warnings.map((warning) => where + warning))
    if (setting) this.#settings.set(key, setting)
  }

  addRule(rule: CrossRule): void {
    if (this.#frozen) throw new FMOD_SETTINGS_FROZEN(rule.keys.join(', '))
    this.#rules.push(rule)
  }

  rulesOf(key: string): readonly CrossRule[] {
    return this.#rules.filter((rule) => rule.keys.includes(key))
  }

  check(): void {
    const problems = [
      ...this.#problems,
      ...this.#rules.flatMap((rule) => this.#problemsOfRule(rule)),
      ...this.all().flatMap((setting) => checkCondition(setting, this.#settings)),
    ]
    if (problems.length === 0) return
    throw new FMOD_SETTINGS_INVALID_DEFINITIONS(problems.map((problem) => `\n  - ${problem}`).join(''))
  }

  warnings(): readonly string[] {
    return [...this.#warnings]
  }

  freeze(): void {
    this.#frozen = true
  }

  find(key: string): RegisteredSetting | undefined {
    return this.#settings.get(key)
  }

  all(): readonly RegisteredSetting[] {
    return [...this.#settings.values()]
  }

  closest(key: string): string | undefined {
    return closestName(key, this.#settings.keys())
  }

  getDefinitions(scope?: SettingScope): readonly CompleteDefinition[] {
    const definitions = this.all().map((setting) => setting.definition)
    return scope === undefined ? definitions : definitions.filter((definition) => definition.scope === scope)
  }

  getDefinition(key: string): CompleteDefinition | null {
    return this.#settings.get(key)?.definition ?? null
  }

  /** A rule may look at settings of any module, which may come later. */
  #problemsOfRule({ keys, module }: CrossRule): string[] {
    const unknown = keys.filter((key) => !this.#settings.has(key))
    return unknown.map((key) => `a rule of the module "${module}" looks at "${key}", which no module defines`)
  }
}

/** JavaScript modules may hand in anything. */
function keyOf(definition: unknown): string | undefined {
  if (typeof definition !== 'object' || definition === null || !('key' in definition)) return undefined
  return typeof definition.key === 'string' ? definition.key : undefined
}
