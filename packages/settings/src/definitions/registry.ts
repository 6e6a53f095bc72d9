/** All definitions of an application (S 2.1, S 4.2). Modules add theirs, then they are checked together and frozen. */
import { closestName } from '@fastify-modular/core'
import { FMOD_SETTINGS_FROZEN, FMOD_SETTINGS_INVALID_DEFINITIONS } from '../misuse-errors.ts'
import type { CompleteDefinition, JsonValue, SettingDefinition, SettingScope } from '../setting-definition.ts'
import { decodeDefault, deepFreeze } from '../values/decode.ts'
import { type CompiledPattern, compilePattern, createPatternBudget, maxSteps } from '../values/pattern.ts'
import {
  defaultLimits,
  maxBytesOf,
  type RegisteredSetting,
  type ValueLimits,
} from '../values/registered-setting.ts'
import { validateValue } from '../values/validate.ts'
import type { CrossRule } from './builder.ts'
import { checkCondition, checkDefinition, hasPattern, lintDefinition } from './check-definition.ts'
import { completeDefinition } from './complete-definition.ts'

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

/** A setting that can be used, or what is wrong with its definition; and what is suspicious about it. */
interface Registration {
  readonly setting?: RegisteredSetting
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
}

/** Completes and checks a definition, compiles its pattern, decodes and validates its default. */
function registerDefinition(declared: SettingDefinition, module: string, limits: ValueLimits): Registration {
  const definition = completeDefinition(declared)
  const problems = checkDefinition(definition)
  if (problems.length > 0) return { problems, warnings: [] }

  const pattern = patternOf(definition)
  if (pattern === 'invalid') return refused('the pattern is no valid regular expression of JavaScript')
  if (pattern && pattern.steps !== Infinity && pattern.steps > maxSteps) {
    return refused(
      `the pattern compiles to ${pattern.steps} steps, more than ${maxSteps}: shorten its alternatives and repetitions`,
    )
  }
  if (declared.validate && typeof declared.validate !== 'function')
    return refused('validate must be a function')
  const validate = declared.validate?.bind(declared) ?? null
  const maxBytes = maxBytesOf(definition.type, limits)
  const setting = { definition, module, defaultValue: null, pattern, validate, maxBytes }

  const { defaultValue, errors } = defaultOf(setting)
  return {
    setting: Object.freeze({ ...setting, defaultValue }),
    problems: errors.map((error) => `its default breaks the definition: ${error}`),
    warnings: lintDefinition(definition),
  }
}

function patternOf({ type, pattern }: CompleteDefinition): CompiledPattern | 'invalid' | null {
  if (pattern === null || !hasPattern(type)) return null
  try {
    return compilePattern(pattern)
  } catch {
    return 'invalid'
  }
}

function defaultOf(setting: RegisteredSetting): { defaultValue: JsonValue; errors: readonly string[] } {
  const { type, defaultValue: raw } = setting.definition
  if (raw === null) return { defaultValue: null, errors: [] }
  const decoded = decodeDefault(type, raw)
  if (!decoded.ok) return { defaultValue: null, errors: decoded.errors }
  // The developer's own pattern on the developer's own text may take its time.
  const errors = validateValue(setting, decoded.value, createPatternBudget(1000))
  return { defaultValue: deepFreeze(decoded.value), errors }
}

function refused(problem: string): Registration {
  return { problems: [problem], warnings: [] }
}
