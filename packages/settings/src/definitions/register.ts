/** Works out, once, all that reading and writing a setting needs. */
import { type CompleteDefinition, type JsonValue, type SettingDefinition } from '../setting-definition.ts'
import { decodeDefault, deepFreeze } from '../values/decode.ts'
import { maxBytesOf, type ValueLimits } from '../values/limits.ts'
import { compilePattern, createPatternBudget, type CompiledPattern, maxSteps } from '../values/pattern.ts'
import type { RegisteredSetting } from '../values/registered-setting.ts'
import { validateValue } from '../values/validate.ts'
import { checkDefinition, hasPattern, lintDefinition } from './check.ts'
import { completeDefinition } from './complete.ts'

/** A setting that can be used, or what is wrong with its definition; and what is suspicious about it. */
export interface Registration {
  readonly setting?: RegisteredSetting
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
}

/** Completes and checks a definition, compiles its pattern, decodes and validates its default. */
export function registerDefinition(
  declared: SettingDefinition,
  module: string,
  limits: ValueLimits,
): Registration {
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
