/** Rules about several settings: looked at by the writes that touch one of them, as the values will be afterwards. */
import type { CrossRule, Registry } from '../definitions/registry.ts'
import type { SettingState } from '../memory/shared-values.ts'
import type { RowCodec } from '../secrets/row-codec.ts'
import { type JsonValue, SettingScope } from '../setting-definition.ts'
import { rowIdText } from '../store/plan-write.ts'
import type { CurrentRows, RowId } from '../store/store.ts'

/** Rules about several settings that a write touches. */
export interface CrossRules {
  /** The rows that the rules look at and the write does not change. */
  readonly reads: readonly RowId[]
  /** Messages by key about the state that the write would leave behind. */
  check(current: CurrentRows): ReadonlyMap<string, readonly string[]>
}

/** One rule, for one user or (empty) for all users without values of their own. */
interface Question {
  readonly rule: CrossRule
  readonly userId: string
}

/** A row that is written, and its value then; null where it is removed. */
interface WrittenValue {
  readonly id: RowId
  readonly value: JsonValue
}

interface CrossRulesInit {
  readonly registry: Pick<Registry, 'rulesOf'>
  readonly find: (key: string) => SettingState | undefined
  readonly codec: Pick<RowCodec, 'layerOf'>
}

/** Finds the rules that a write touches. */
export function crossRulesOf(
  values: readonly WrittenValue[],
  { registry, find, codec }: CrossRulesInit,
): CrossRules {
  const questions = questionsOf(values, registry)
  const written = new Map(values.map(({ id, value }) => [rowIdText(id), value]))
  const writtenKeys = new Set(values.map(({ id }) => id.key))
  const reads = questions.flatMap(({ rule, userId }) =>
    rule.keys.flatMap((key) => layersOf(find(key), userId)),
  )

  function valueOf(key: string, userId: string, current: CurrentRows): JsonValue {
    const state = find(key)
    if (state?.locked !== undefined) return state.locked
    for (const id of layersOf(state, userId)) {
      const after = written.get(rowIdText(id))
      const value = after === undefined ? storedValue(state, current.get(id)) : after
      if (value !== null) return value
    }
    return state?.setting.defaultValue ?? null
  }

  /** @throws {FMOD_SETTINGS_UNREADABLE} the value is encrypted with a lost key, so that the rule cannot be checked */
  function storedValue(state: SettingState | undefined, row: ReturnType<CurrentRows['get']>): JsonValue {
    const layer = state && row && codec.layerOf(state.setting, row)
    if (layer?.state === 'unreadable') throw layer.error
    return layer?.state === 'valid' ? layer.value : null
  }

  return {
    reads: [...new Map(reads.map((id) => [rowIdText(id), id])).entries()]
      .filter(([name]) => !written.has(name))
      .map(([, id]) => id),
    check(current) {
      const errors = new Map<string, readonly string[]>()
      for (const { rule, userId } of questions) {
        const messages = rule.check((key) => valueOf(key, userId, current))
        if (messages.length === 0) continue
        for (const key of rule.keys) {
          if (writtenKeys.has(key)) errors.set(key, [...(errors.get(key) ?? []), ...messages])
        }
      }
      return errors
    },
  }
}

function questionsOf(
  values: readonly WrittenValue[],
  registry: Pick<Registry, 'rulesOf'>,
): readonly Question[] {
  const usersByRule = new Map<CrossRule, Set<string>>()
  for (const { id } of values) {
    for (const rule of registry.rulesOf(id.key)) {
      const users = usersByRule.get(rule) ?? new Set()
      usersByRule.set(rule, users.add(id.userId))
    }
  }
  return [...usersByRule].flatMap(([rule, users]) => Array.from(users, (userId) => ({ rule, userId })))
}

/** The rows that may supply a value, strongest first. */
function layersOf(state: SettingState | undefined, userId: string): readonly RowId[] {
  if (!state) return []
  const { key, scope } = state.setting.definition
  if (scope === SettingScope.System) return [{ scope, userId: '', key }]
  const application = { scope: SettingScope.Application, userId: '', key }
  return scope === SettingScope.User && userId !== '' ? [{ scope, userId, key }, application] : [application]
}
