/**
 * All System and Application values in memory. Every change is applied in one step of the event loop, so a reader
 * never sees half of a bulk; applying is order-independent, so a late reload cannot undo a newer write.
 */
import { ArgumentException, NotFoundException } from '@fastify-modular/core'
import type { Registry } from '../definitions/registry.ts'
import type { RegisteredSetting } from '../values/validate.ts'
import { FMOD_SETTINGS_UNKNOWN_KEY } from '../misuse-errors.ts'
import { type JsonValue, SettingScope, type SharedScope } from '../setting-definition.ts'
import type { Locked, LockedBy } from '../overrides.ts'
import { isSameRow } from '../store/plan-write.ts'
import type { RowId, StoredRow } from '../store/store.ts'
import type { Layer, RowCodec } from '../secrets/row-codec.ts'

/** One setting with its shared values. */
export interface SettingState {
  readonly setting: RegisteredSetting
  readonly locked: JsonValue | undefined
  /** Null where no value is locked. */
  readonly lockedBy: LockedBy | null
  readonly system: Layer | undefined
  readonly application: Layer | undefined
  /** The answer to a read without a user. */
  readonly shared: Resolution
}

/** Whether users may have values of their own of a setting. */
export function isUserSetting({ setting }: SettingState): boolean {
  return setting.definition.scope === SettingScope.User
}

/**
 * The scope in which a setting has its shared value: a User setting has the application's default of it there
 * (decisions 16 and 20).
 */
export function sharedScope({ setting }: SettingState): SharedScope {
  return setting.definition.scope === SettingScope.System ? SettingScope.System : SettingScope.Application
}

/** @throws {ArgumentException} the setting has its shared value in another scope (decision 20) */
export function requireFit(state: SettingState, scope: SettingScope): SettingState {
  const fits = sharedScope(state)
  if (scope === fits) return state
  const name = fits === SettingScope.System ? 'System (0)' : 'Application (1)'
  throw new ArgumentException(
    `The setting "${state.setting.definition.key}" has its value in the scope ${name}.`,
    'scope',
  )
}

/** @throws {NotFoundException} no module defines the key */
export function requireSetting(sharedValues: SharedValues, key: string): SettingState {
  const state = sharedValues.find(key)
  if (!state) throw new NotFoundException('Setting', key)
  return state
}

/** A row as it became; `row` undefined means unset. */
interface SharedChange {
  readonly scope: SettingScope
  readonly key: string
  readonly row: StoredRow | undefined
}

/** A change with the revision that made it. */
interface PastChange extends SharedChange {
  readonly revision: number
}

/** A setting whose read without a user has a new answer. */
export interface EffectiveChange {
  readonly state: SettingState
  readonly previous: Resolution
}

export interface SharedValues {
  /** The last revision up to which every write is in here. */
  readonly revision: number
  /** False while a later write is in here, but not all before it. */
  readonly complete: boolean
  /** Counts local changes: a key for caches. */
  readonly generation: number
  /** The settings that were read before; `find` knows the others too. */
  readonly states: ReadonlyMap<string, SettingState>
  find(key: string): SettingState | undefined
  /** @throws {FMOD_SETTINGS_UNKNOWN_KEY} no module defines the key */
  require(key: string): SettingState
  /** All System and Application rows, also those without a definition. */
  rows(): Iterable<StoredRow>
  /** Whether a System or Application row is here as the database has it. True for users' rows, which are elsewhere. */
  agrees(id: RowId, row: StoredRow | undefined): boolean
  /** Call it before reading what `load` gets: only what is applied after it may be newer than that. */
  beginLoad(): void
  /** Takes all rows as of a revision, which may be lower than the one before: the database may have gone back. */
  load(revision: number, rows: readonly StoredRow[]): readonly EffectiveChange[]
  /** Takes what one revision changed; pass an empty list for a revision that changed users' values only. */
  apply(revision: number, changes: readonly SharedChange[]): readonly EffectiveChange[]
  /** Takes all changes up to a revision, oldest first. A value that came back to what it was has not changed. */
  replay(revision: number, changes: readonly PastChange[]): readonly EffectiveChange[]
  /** Takes rows whose texts were sealed anew, with the values and revisions they had. */
  reseal(rows: readonly StoredRow[]): readonly EffectiveChange[]
  /** Resolves settings again: their locked values may have changed. */
  resolveAgain(keys: ReadonlySet<string>): readonly EffectiveChange[]
}

/** A row, or its absence, and the revision that made it so. */
interface Slot {
  readonly row: StoredRow | undefined
  readonly revision: number
}

interface SharedValuesInit {
  readonly registry: Pick<Registry, 'find' | 'closest'>
  readonly codec: Pick<RowCodec, 'layerOf'>
  /** The host's locked values; `resolveAgain` after they have changed. */
  readonly locked: Locked
}

export function createSharedValues({ registry, codec, locked }: SharedValuesInit): SharedValues {
  const slots = {
    [SettingScope.System]: new Map<string, Slot>(),
    [SettingScope.Application]: new Map<string, Slot>(),
  }
  const states = new Map<string, SettingState>()
  /** Revisions that are in here although one before them is not. */
  const ahead = new Set<number>()
  /** Revisions that were applied since `beginLoad`; undefined while no load is under way. */
  let sinceLoad: Set<number> | undefined
  let revision = 0
  let generation = 0

  /** Rows may be here before their definition: a setting gets its state when it is first read. */
  function find(key: string): SettingState | undefined {
    const state = states.get(key)
    if (state) return state
    const setting = registry.find(key)
    if (!setting) return undefined
    const made = toState(setting)
    states.set(key, made)
    return made
  }

  function toState(setting: RegisteredSetting): SettingState {
    const system = layer(setting, SettingScope.System)
    const application = layer(setting, SettingScope.Application)
    const { key, scope } = setting.definition
    const isSystem = scope === SettingScope.System
    const { value: lockedValue, by = null } = locked.get(key) ?? {}
    const shared = resolve({
      locked: lockedValue,
      application: isSystem ? undefined : application,
      system: isSystem ? system : undefined,
      default: setting.defaultValue,
    })
    return { setting, locked: lockedValue, lockedBy: by, system, application, shared }
  }

  function layer(setting: RegisteredSetting, scope: SharedScope): Layer | undefined {
    const row = slots[scope].get(setting.definition.key)?.row
    return row && codec.layerOf(setting, row)
  }

  /** Keeps the newer row. Returns whether the row changed. */
  function put({ scope, key, row }: SharedChange, at: number): boolean {
    if (scope === SettingScope.User) return false
    const known = slots[scope].get(key)
    if (known && known.revision >= at) return false
    slots[scope].set(key, { row, revision: at })
    return !isSameRow(known?.row, row)
  }

  function resolveAgain(keys: ReadonlySet<string>): EffectiveChange[] {
    if (keys.size > 0) generation++
    const changes: EffectiveChange[] = []
    for (const key of keys) {
      const old = states.get(key)
      if (!old) continue // it was never read
      const state = toState(old.setting)
      states.set(key, state)
      if (!isSame(old.shared, state.shared)) changes.push({ state, previous: old.shared })
    }
    return changes
  }

  function advance(to: number): void {
    if (to > revision) revision = to
    for (const late of ahead) if (late <= revision) ahead.delete(late)
    while (ahead.delete(revision + 1)) revision++
  }

  return {
    get revision() {
      return revision
    },
    get complete() {
      return ahead.size === 0
    },
    get generation() {
      return generation
    },
    states,
    find,
    require(key) {
      const state = find(key)
      if (state) return state
      const closest = registry.closest(key)
      throw new FMOD_SETTINGS_UNKNOWN_KEY(key, closest === undefined ? '' : ` Did you mean "${closest}"?`)
    },
    *rows() {
      for (const scope of [SettingScope.System, SettingScope.Application] as const) {
        for (const { row } of slots[scope].values()) if (row) yield row
      }
    },
    agrees: ({ scope, key }, row) =>
      scope === SettingScope.User || isSameRow(slots[scope].get(key)?.row, row),
    beginLoad() {
      // The rows stay until the load replaces them: readers see old values rather than none.
      for (const map of [slots[SettingScope.System], slots[SettingScope.Application]]) {
        for (const [key, { row }] of map) map.set(key, { row, revision: -1 })
      }
      sinceLoad = new Set()
    },
    load(at, rows) {
      const changed = new Set<string>()
      const unset = {
        [SettingScope.System]: new Set(slots[SettingScope.System].keys()),
        [SettingScope.Application]: new Set(slots[SettingScope.Application].keys()),
      }
      for (const row of rows) {
        if (row.scope === SettingScope.User) continue
        unset[row.scope].delete(row.key)
        if (put({ ...row, row }, row.revision)) changed.add(row.key)
      }
      for (const scope of [SettingScope.System, SettingScope.Application] as const) {
        for (const key of unset[scope]) if (put({ scope, key, row: undefined }, at)) changed.add(key)
      }
      revision = 0
      ahead.clear()
      for (const applied of sinceLoad ?? []) ahead.add(applied)
      sinceLoad = undefined
      advance(at)
      return resolveAgain(changed)
    },
    apply(at, changes) {
      sinceLoad?.add(at)
      const changed = new Set(changes.filter((change) => put(change, at)).map(({ key }) => key))
      if (at === revision + 1) advance(at)
      else if (at > revision) ahead.add(at)
      return resolveAgain(changed)
    },
    replay(to, changes) {
      const changed = new Set(changes.filter((change) => put(change, change.revision)).map(({ key }) => key))
      advance(to)
      return resolveAgain(changed)
    },
    reseal(rows) {
      const changed = new Set<string>()
      for (const row of rows) {
        if (row.scope === SettingScope.User) continue
        const slot = slots[row.scope].get(row.key)
        if (slot?.row?.revision !== row.revision) continue // written meanwhile
        slots[row.scope].set(row.key, { row, revision: slot.revision })
        changed.add(row.key)
      }
      return resolveAgain(changed)
    },
    resolveAgain,
  }
}

function isSame(a: Resolution, b: Resolution): boolean {
  return a.error === b.error && (a.value === b.value || JSON.stringify(a.value) === JSON.stringify(b.value))
}

/** The layers that may supply one value. */
export interface Layers {
  readonly locked?: JsonValue | undefined
  readonly user?: Layer | undefined
  readonly application?: Layer | undefined
  readonly system?: Layer | undefined
  readonly default: JsonValue
}

/** A value and the layer that supplies it; `error` instead of the value when that layer is unreadable. */
export interface Resolution {
  readonly source: SettingSource
  readonly value: JsonValue
  readonly error?: Error
  /** Where the value is stored; undefined for defaults, locked values and what users' memory supplies. */
  readonly row?: StoredRow
}

/** Locked, user, application, system, default: the first layer that has a value. Callers pass the layers that apply. */
export function resolve(layers: Layers): Resolution {
  if (layers.locked !== undefined) return { source: 'locked', value: layers.locked }
  return (
    supply('user', layers.user) ??
    supply('application', layers.application) ??
    supply('system', layers.system) ?? { source: 'default', value: layers.default }
  )
}

function supply(source: SettingSource, layer: Layer | undefined): Resolution | undefined {
  if (layer === undefined || layer.state === 'invalid') return undefined
  return layer.state === 'valid'
    ? { source, value: layer.value, row: layer.row }
    : { source, value: null, error: layer.error, row: layer.row }
}

/** Where a value comes from. */
export type SettingSource = 'locked' | 'user' | 'application' | 'system' | 'default'
