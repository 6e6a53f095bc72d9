/** Rules about several settings: looked at by the writes that touch one of them, as the values will be afterwards. */
import type { CrossRule, Registry } from '../definitions/registry.ts'
import type { SettingState, SharedValues } from '../memory/shared-values.ts'
import { isPlaceOf } from '../places.ts'
import type { RowCodec } from '../secrets/row-codec.ts'
import { isOwned, type JsonValue, type OwnedScope, SettingScope } from '../setting-definition.ts'
import { rowIdText } from '../store/plan-write.ts'
import type { CurrentRows, RowId, StoredRow } from '../store/store.ts'

/** Rules about several settings that a write touches. */
interface CrossRules {
  /** The rows that the rules look at and the write does not change. */
  readonly reads: readonly RowId[]
  /** Messages by key about the state that the write would leave behind, by the rules about the rows that it changes. */
  check(current: CurrentRows, changed: readonly RowId[]): ReadonlyMap<string, readonly string[]>
}

/** A row that is written, and its value then; null where it is removed. */
interface WrittenValue extends RowId {
  readonly value: JsonValue
}

interface CrossRulesInit {
  readonly registry: Registry
  readonly sharedValues: Pick<SharedValues, 'find'>
  readonly codec: Pick<RowCodec, 'layerOf'>
}

/** The rules that what holds without a user breaks, each with the settings that it is about. */
export function brokenRules({ registry, sharedValues }: Pick<CrossRulesInit, 'registry' | 'sharedValues'>) {
  return registry.rules.flatMap((rule) => {
    const states = rule.keys.flatMap((key) => sharedValues.find(key) ?? [])
    const values = new Map(states.map(({ setting, shared }) => [setting.definition.key, shared.value]))
    // About a value that cannot be read no rule is asked.
    const isAsked = states.every(({ shared }) => shared.error === undefined)
    return isAsked && isBroken(rule, values) ? [{ rule, states }] : []
  })
}

/** What a rule says, or throws, may quote a value. */
function isBroken(rule: CrossRule, values: ReadonlyMap<string, JsonValue>): boolean {
  try {
    return rule.check((key) => values.get(key) ?? null).length > 0
  } catch {
    return true
  }
}

/** Finds the rules that a write touches. */
export function crossRulesOf(
  values: readonly WrittenValue[],
  { registry, sharedValues, codec }: CrossRulesInit,
  tenant = '',
): CrossRules {
  const questions = registry.rules.length === 0 ? [] : questionsOf(values, registry, tenant)
  if (questions.length === 0) return { reads: [], check: () => new Map() }

  const written = new Map(values.map((value) => [rowIdText(value), value]))
  const writtenKeys = new Set(values.map(({ key }) => key))
  const looksAt = questions.flatMap(({ rule, chain }) =>
    rule.keys.flatMap((key) => layersOf(sharedValues.find(key), chain)),
  )
  const reads = new Map(looksAt.map((id) => [rowIdText(id), id]))
  for (const name of written.keys()) reads.delete(name)

  function valueOf(key: string, chain: Chain, current: CurrentRows): JsonValue {
    const state = sharedValues.find(key)
    if (state?.locked !== undefined) return state.locked
    for (const id of layersOf(state, chain)) {
      const after = written.get(rowIdText(id))
      const value = after ? after.value : storedValue(state, current.get(id))
      if (value !== null) return value
    }
    return state?.setting.defaultValue ?? null
  }

  /** @throws {FMOD_SETTINGS_UNREADABLE} the value is encrypted with a lost key, so that the rule cannot be checked */
  function storedValue(state: SettingState | undefined, row: StoredRow | undefined): JsonValue {
    const layer = state && row && codec.layerOf(state.setting, row)
    if (layer?.state === 'unreadable') throw layer.error
    return layer?.state === 'valid' ? layer.value : null
  }

  return {
    reads: [...reads.values()],
    check(current, changed) {
      const errors = new Map<string, readonly string[]>()
      for (const { rule, chain } of questionsOf(changed, registry, tenant)) {
        const messages = rule.check((key) => valueOf(key, chain, current))
        if (messages.length === 0) continue
        for (const key of rule.keys)
          if (writtenKeys.has(key)) errors.set(key, [...(errors.get(key) ?? []), ...messages])
      }
      return errors
    },
  }
}

/** Whose values a rule sees over the shared ones; empty for nobody's. */
type Chain = Readonly<Record<OwnedScope, string>>

/** Each rule about these rows, for their owner, or for all users without values of their own; in the tenant of the write. */
function questionsOf(rows: readonly RowId[], registry: Registry, tenant: string) {
  const chainsByRule = new Map<CrossRule, Map<string, Chain>>()
  for (const { key, scope, owner } of rows) {
    if (!isPlaceOf(registry.find(key), scope)) continue
    const chain: Chain = {
      [SettingScope.User]: scope === SettingScope.User ? owner : '',
      [SettingScope.Tenant]: scope === SettingScope.Tenant ? owner : tenant,
    }
    for (const rule of registry.rulesOf(key)) {
      const chains = chainsByRule.get(rule) ?? new Map<string, Chain>()
      chainsByRule.set(rule, chains.set(JSON.stringify(chain), chain))
    }
  }
  return [...chainsByRule].flatMap(([rule, chains]) =>
    Array.from(chains.values(), (chain) => ({ rule, chain })),
  )
}

/** The rows that may supply a value, strongest first. */
function layersOf(state: SettingState | undefined, chain: Chain): readonly RowId[] {
  if (!state) return []
  const { definition, places } = state.setting
  return places.toReversed().flatMap((scope) => {
    const owner = isOwned(scope) ? chain[scope] : ''
    return isOwned(scope) && owner === '' ? [] : { scope, owner, key: definition.key }
  })
}
