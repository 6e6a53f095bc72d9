/** All definitions of an application. Modules add theirs, then they are checked together and frozen. */
import { placesOf } from '../places.ts'
import {
  closestName,
  FMOD_CORE_ADDED_LATE,
  safeText,
  type StandardSchema,
} from '@fastify-modular/core/internal'
import { errorCodes, toLines } from '../misuse-errors.ts'
import {
  type CompleteDefinition,
  type JsonValue,
  type SettingDefinition,
  type SettingScope,
  SettingType,
} from '../setting-definition.ts'
import { decodeDefault, deepFreeze } from '../values/json.ts'
import { compilePattern } from '../values/pattern.ts'
import {
  defaultLimits,
  describeFormat,
  maxBytesOf,
  type RegisteredSetting,
  parseValue,
  type ValueLimits,
} from '../values/validate.ts'
import { compileJsonSchema, type ParseSchema } from '../values/json-schema.ts'
import { compileStandardSchema } from '../values/standard-schema.ts'
import {
  checkCondition,
  checkDefinition,
  checkVariables,
  isFreeText,
  lintDefinition,
  nameOf,
} from './check-definition.ts'
import { completeDefinition } from './definition-schema.ts'
import { Groups, type SettingGroups } from '../groups.ts'
import { readVariable } from './variable.ts'

/** The definitions of all modules, read-only. */
export interface SettingDefinitions {
  /** In the order of registration; all, or those of one scope. */
  getDefinitions(scope?: SettingScope): readonly CompleteDefinition[]
  getDefinition(key: string): CompleteDefinition | null
  /** What is said of groups, by their name, in the first language of an `Accept-Language` that is known. */
  getGroups(accepted?: string): SettingGroups
}

/**
 * The registry as the plugin uses it; other code sees `SettingDefinitions`. Problems are collected, so that `check`
 * reports those of all modules together.
 */
export class Registry implements SettingDefinitions {
  readonly #limits: ValueLimits
  readonly hasTenants: boolean
  readonly #settings = new Map<string, RegisteredSetting>()
  /** What each module declared, by key in lower case: keys may not differ in letter case only. */
  readonly #declared = new Map<string, { readonly definition: SettingDefinition; readonly module: string }>()
  /** In the order of registration. */
  readonly rules: CrossRule[] = []
  /** First segments of the API's routes, in lower case: routers may ignore case. */
  readonly #reserved = new Set<string>()
  readonly #problems: string[] = []
  readonly #warnings: string[] = []
  /** What is wrong in the environment: not for the author of a module, but for who starts the process. */
  readonly #misfits: string[] = []
  readonly groups = new Groups()
  #frozen = false

  /** @param hasTenants whether tenants have values */
  constructor(limits: ValueLimits = defaultLimits, hasTenants = false) {
    this.#limits = limits
    this.hasTenants = hasTenants
  }

  getGroups(accepted?: string): SettingGroups {
    return this.groups.in(
      accepted,
      this.all().flatMap(({ definition: { group } }) => group ?? []),
    )
  }

  /**
   * Adds a definition, or remembers its problems for `check`. Adding the same object again changes nothing.
   * @throws {FMOD_CORE_ADDED_LATE} after `freeze`
   */
  add(definition: SettingDefinition, module: string): void {
    const key = safeText(definition, 'key') // JavaScript modules may pass anything
    this.#refuseLate(`The setting "${key ?? ''}"`)
    if (key === undefined) {
      this.#problems.push(
        `the module "${module}" adds something that is not a setting definition: it has no key`,
      )
      return
    }
    const earlier = this.#declared.get(key.toLowerCase())
    if (earlier) {
      if (earlier.definition !== definition)
        this.#problems.push(
          `${nameOf(key, module)}the module "${earlier.module}" defines it as "${earlier.definition.key}"`,
        )
      return
    }
    this.#declared.set(key.toLowerCase(), { definition, module })
    const setting = this.#complete(definition, module)
    if (setting) this.#settings.set(key, setting)
  }

  /**
   * Completes and checks a definition, compiles its pattern and its schema, decodes and validates its default; undefined
   * where it cannot be used.
   */
  #complete(declared: SettingDefinition, module: string): RegisteredSetting | undefined {
    const where = nameOf(declared.key, module)
    const refuse = (...problems: readonly string[]): undefined => {
      this.#problems.push(...problems.map((problem) => where + problem))
    }
    const { definition, unknown, validator } = completeDefinition(declared)
    const problems = [...unknown, ...checkDefinition(definition, this.hasTenants)]
    if (problems.length > 0) return refuse(...problems)
    const { type } = definition
    const validate = declared.validate ?? null
    if (validate !== null && typeof validate !== 'function') return refuse('validate must be a function')
    const text = attempt(() => textLimitsOf(definition))
    if (text instanceof Error) return refuse(`the pattern ${text.message}`)
    const maxBytes = maxBytesOf(type, this.#limits)
    const parseSchema = attempt(() => compileSchema(definition, validator, maxBytes))
    if (parseSchema instanceof Error) return refuse(`the schema cannot be used: ${parseSchema.message}`)
    const setting = {
      definition,
      module,
      places: placesOf(definition, this.hasTenants),
      defaultValue: null,
      environment: undefined,
      ...text,
      parseSchema,
      validate: validate && validate.bind(declared),
      maxBytes,
    }
    const { defaultValue, errors } = defaultOf(setting)
    refuse(...errors.map((error) => `its default breaks the definition: ${error}`))
    const environment = readVariable(setting)
    this.#misfits.push(...environment.problems)
    this.#warnings.push(...lintDefinition(definition).map((warning) => where + warning))
    return Object.freeze({ ...setting, defaultValue, environment: environment.value })
  }

  /** @throws {FMOD_CORE_ADDED_LATE} after `freeze` */
  addRule(rule: CrossRule): void {
    this.#refuseLate(`The rule about ${rule.keys.join(', ')}`)
    this.rules.push(rule)
  }

  #refuseLate(added: string): void {
    if (this.#frozen)
      throw new FMOD_CORE_ADDED_LATE(
        added,
        "settings in a module's settings hook or in the option definitions",
      )
  }

  /** Takes a path of the API, below its prefix: a setting that is named like its first segment could not be read there. */
  reserve(path: string): void {
    const [, segment = ''] = path.split('/')
    if (segment !== '' && !segment.startsWith(':')) this.#reserved.add(segment.toLowerCase())
  }

  /** The rules that look at a setting. */
  rulesOf(key: string): readonly CrossRule[] {
    return this.rules.filter((rule) => rule.keys.includes(key))
  }

  /**
   * @throws {FMOD_SETTINGS_INVALID_DEFINITIONS} with the problems of all modules
   * @throws {FMOD_SETTINGS_INVALID_ENVIRONMENT} with all variables that do not fit their definitions
   */
  check(): void {
    const problems = [
      ...this.#problems,
      ...this.rules.flatMap((rule) => this.#problemsOfRule(rule)),
      ...this.all().flatMap((setting) => checkCondition(setting, this.#settings)),
      ...this.all().flatMap((setting) => this.#problemsOfKey(setting)),
      ...checkVariables(this.all()),
    ]
    if (problems.length > 0) throw new errorCodes.FMOD_SETTINGS_INVALID_DEFINITIONS(toLines(problems))
    if (this.#misfits.length > 0)
      throw new errorCodes.FMOD_SETTINGS_INVALID_ENVIRONMENT(toLines(this.#misfits))
  }

  /** Legal, but probably mistakes; for the boot log. */
  warnings(): readonly string[] {
    return [...this.#warnings]
  }

  /** No definition and no rule can be added from now on. */
  freeze(): void {
    this.#frozen = true
  }

  get isFrozen(): boolean {
    return this.#frozen
  }

  find(key: string): RegisteredSetting | undefined {
    return this.#settings.get(key)
  }

  /** In the order of registration. */
  all(): readonly RegisteredSetting[] {
    return [...this.#settings.values()]
  }

  /** The key that a misspelt one probably means. */
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

  #problemsOfKey({ definition: { key }, module }: RegisteredSetting): string[] {
    if (!this.#reserved.has(key.toLowerCase())) return []
    return [`${nameOf(key, module)}/${key} is a path of the settings API: give the key a second segment`]
  }

  /** A rule may look at settings of any module, which may come later. */
  #problemsOfRule({ keys, module }: CrossRule): string[] {
    const unknown = keys.filter((key) => !this.#settings.has(key))
    return unknown.map((key) => `a rule of the module "${module}" looks at "${key}", which no module defines`)
  }
}

/** What the task returns, or why it failed. */
function attempt<T>(task: () => T): T | Error {
  try {
    return task()
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** The pattern and the longest text where the type honours them. @throws {Error} the pattern cannot be used */
function textLimitsOf(definition: CompleteDefinition): Pick<RegisteredSetting, 'pattern' | 'maxLength'> {
  const { type, pattern: source, maxLength } = definition
  if (!isFreeText(type)) return { pattern: null, maxLength: null }
  if (source === null) return { pattern: null, maxLength }
  const pattern = compilePattern(source)
  if (maxLength !== null && maxLength > pattern.maxLength)
    throw new Error(
      `takes too long on ${maxLength} characters: use a maxLength of at most ${pattern.maxLength}`,
    )
  const message = describeFormat(definition, pattern)
  return { pattern: { ...pattern, message }, maxLength: maxLength ?? pattern.maxLength }
}

function defaultOf(setting: RegisteredSetting): { defaultValue: JsonValue; errors: readonly string[] } {
  const { type, defaultValue: raw } = setting.definition
  if (raw === null) return { defaultValue: null, errors: [] }
  const decoded = attempt(() => decodeDefault(type, raw))
  if (decoded instanceof Error) return { defaultValue: null, errors: [decoded.message] }
  const parsed = attempt(() => parseValue(setting, decoded))
  if (parsed instanceof Error) return { defaultValue: null, errors: [parsed.message] }
  return { defaultValue: deepFreeze(parsed.value), errors: parsed.errors }
}

/** @throws {Error} the schema belongs to another type, or Ajv refuses it */
function compileSchema(
  { key, type, sensitive, schema }: CompleteDefinition,
  validator: StandardSchema | null,
  maxBytes: number,
): ParseSchema | null {
  if (schema === null && validator === null) return null
  if (type !== SettingType.Json) throw new Error('it belongs to a Json')
  if (validator) return compileStandardSchema(validator, { key, isSecret: sensitive, maxBytes })
  const check = compileJsonSchema(schema ?? {})
  return (value) => ({ value, errors: check(value) })
}

/** A rule as the service applies it: to the values as a write would leave them. */
export interface CrossRule {
  readonly module: string
  readonly keys: readonly string[]
  /**
   * Messages that say what to enter; none if the values go together.
   * @throws {FMOD_SETTINGS_INVALID_RULE_RESULT} the rule returned something other than messages, or it threw at a secret
   */
  check(valueOf: (key: string) => JsonValue): string[]
}
