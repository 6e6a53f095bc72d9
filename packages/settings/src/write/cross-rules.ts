/** Rules about several settings, checked against the state that a write would leave behind. */
import type { CrossRule, Registry } from '../definitions/registry.ts'
import { type JsonValue, SettingScope } from '../setting-definition.ts'
import { rowIdText } from '../store/row-id.ts'
import type { CurrentRows, RowId } from '../store/store.ts'
import type { SettingState } from '../memory/shared-values.ts'
import type { RowCodec } from '../secrets/row-codec.ts'
import { idOf, type WriteEntry } from './entries.ts'

/** Rules about several settings that a write touches. */
interface CrossRules {
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

const noRules: CrossRules = { reads: [], check: () => new Map() }

interface CrossRulesInit {
  readonly registry: Pick<Registry, 'rulesOf'>
  readonly find: (key: string) => SettingState | undefined
  readonly codec: Pick<RowCodec, 'layerOf'>
}

/** Finds the rules that the entries of one write touch. */
export function crossRulesOf(
  entries: readonly WriteEntry[],
  { registry, find, codec }: CrossRulesInit,
): CrossRules {
  const questions = questionsOf(entries, registry)
  if (questions.length === 0) return noRules
  const written = new Map(entries.map((entry) => [rowIdText(idOf(entry)), entry]))
  const writtenKeys = new Set(entries.map((entry) => idOf(entry).key))
  const reads = questions.flatMap(({ rule, userId }) =>
    rule.keys.flatMap((key) => layersOf(find(key), userId)),
  )

  function valueOf(key: string, userId: string, current: CurrentRows): JsonValue {
    const state = find(key)
    if (state?.locked !== undefined) return state.locked
    for (const id of layersOf(state, userId)) {
      const entry = written.get(rowIdText(id))
      const value = entry ? valueAfter(entry) : storedValue(state, current.get(id))
      if (value !== null) return value
    }
    return state?.setting.defaultValue ?? null
  }

  /** @throws {FMOD_SETTINGS_UNREADABLE} the value is sealed with a lost key, so that the rule cannot be checked */
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
  entries: readonly WriteEntry[],
  registry: Pick<Registry, 'rulesOf'>,
): readonly Question[] {
  const usersByRule = new Map<CrossRule, Set<string>>()
  for (const { state, userId } of entries) {
    for (const rule of registry.rulesOf(state.setting.definition.key)) {
      const users = usersByRule.get(rule) ?? new Set()
      usersByRule.set(rule, users.add(userId))
    }
  }
  return [...usersByRule].flatMap(([rule, users]) => Array.from(users, (userId) => ({ rule, userId })))
}

/** The rows that may supply a value, strongest first (S 3.2, decision 18). */
function layersOf(state: SettingState | undefined, userId: string): readonly RowId[] {
  if (!state) return []
  const { key, scope } = state.setting.definition
  if (scope === SettingScope.System) return [{ scope, userId: '', key }]
  const application = { scope: SettingScope.Application, userId: '', key }
  return scope === SettingScope.User && userId !== '' ? [{ scope, userId, key }, application] : [application]
}

function valueAfter({ change }: WriteEntry): JsonValue {
  return change.kind === 'set' ? change.value : null
}
