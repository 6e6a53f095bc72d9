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
import { noRevision, type Revision } from '../store/revision.ts'
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
 * The scope in which a setting has its shared value: a User setting has the application's default of it there.
 */
export function sharedScope({ setting }: SettingState): SharedScope {
  return setting.definition.scope === SettingScope.System ? SettingScope.System : SettingScope.Application
}

/** @throws {ArgumentException} the setting has its shared value in another scope */
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
interface PastChange extends SharedChange, Revision {}

/** A key that a revision changed. */
export interface RevisedKey extends Revision {
  readonly key: string
}

/** A setting whose read without a user has a new answer. */
export interface EffectiveChange {
  readonly state: SettingState
  readonly previous: Resolution
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

const sharedScopes = [SettingScope.System, SettingScope.Application] as const

export class SharedValues {
  readonly #init: SharedValuesInit
  readonly #slots = {
    [SettingScope.System]: new Map<string, Slot>(),
    [SettingScope.Application]: new Map<string, Slot>(),
  }
  readonly #states = new Map<string, SettingState>()
  /** Tokens of revisions that are in here although one before them is not. */
  readonly #ahead = new Map<number, string>()
  /** Revisions that were applied since `beginLoad`; undefined while no load is under way. */
  #sinceLoad: Map<number, string> | undefined
  #last = noRevision
  #generation = 0
  /**
   * Called when rows or locked values have changed and are in here: with their keys, and with what each revision changed;
   * undefined where everything was read again, so that nobody knows.
   */
  onChange: ((keys: ReadonlySet<string>, revised: readonly RevisedKey[] | undefined) => void) | undefined

  constructor(init: SharedValuesInit) {
    this.#init = init
  }

  /** The last revision up to which every write is in here. */
  get revision(): number {
    return this.#last.revision
  }

  get token(): string {
    return this.#last.token
  }

  /** False while a later write is in here, but not all before it. */
  get complete(): boolean {
    return this.#ahead.size === 0
  }

  /** Counts local changes: a key for caches. */
  get generation(): number {
    return this.#generation
  }

  /** The settings that were read before; `find` knows the others too. */
  get states(): ReadonlyMap<string, SettingState> {
    return this.#states
  }

  /** Rows may be here before their definition: a setting gets its state when it is first read. */
  find(key: string): SettingState | undefined {
    const state = this.#states.get(key)
    if (state) return state
    const setting = this.#init.registry.find(key)
    if (!setting) return undefined
    const made = this.#toState(setting)
    this.#states.set(key, made)
    return made
  }

  /** @throws {FMOD_SETTINGS_UNKNOWN_KEY} no module defines the key */
  require(key: string): SettingState {
    const state = this.find(key)
    if (state) return state
    const closest = this.#init.registry.closest(key)
    throw new FMOD_SETTINGS_UNKNOWN_KEY(key, closest === undefined ? '' : ` Did you mean "${closest}"?`)
  }

  /** All System and Application rows, also those without a definition. */
  *rows(): Iterable<StoredRow> {
    for (const scope of sharedScopes) for (const { row } of this.#slots[scope].values()) if (row) yield row
  }

  /** Whether a System or Application row is here as the database has it. True for users' rows, which are elsewhere. */
  agrees({ scope, key }: RowId, row: StoredRow | undefined): boolean {
    return scope === SettingScope.User || isSameRow(this.#slots[scope].get(key)?.row, row)
  }

  /** Call it before reading what `load` gets: only what is applied after it may be newer than that. */
  beginLoad(): void {
    // The rows stay until the load replaces them: readers see old values rather than none.
    for (const scope of sharedScopes)
      for (const [key, { row }] of this.#slots[scope]) this.#slots[scope].set(key, { row, revision: -1 })
    this.#sinceLoad = new Map()
  }

  /** Takes all rows as of a revision, which may be lower than the one before: the database may have gone back. */
  load(at: Revision, rows: readonly StoredRow[]): readonly EffectiveChange[] {
    const changed = new Set<string>()
    const unset = {
      [SettingScope.System]: new Set(this.#slots[SettingScope.System].keys()),
      [SettingScope.Application]: new Set(this.#slots[SettingScope.Application].keys()),
    }
    for (const row of rows) {
      if (row.scope === SettingScope.User) continue
      unset[row.scope].delete(row.key)
      if (this.#put({ ...row, row }, row.revision)) changed.add(row.key)
    }
    for (const scope of sharedScopes)
      for (const key of unset[scope])
        if (this.#put({ scope, key, row: undefined }, at.revision)) changed.add(key)
    this.#last = noRevision
    this.#ahead.clear()
    for (const [applied, token] of this.#sinceLoad ?? []) this.#ahead.set(applied, token)
    this.#sinceLoad = undefined
    this.#advance(at)
    return this.#resolve(changed, undefined)
  }

  /** Takes what one revision changed. */
  apply({ revision, token }: Revision, changes: readonly SharedChange[]): readonly EffectiveChange[] {
    this.#sinceLoad?.set(revision, token)
    const changed = changes.filter((change) => this.#put(change, revision)).map(({ key }) => key)
    if (revision === this.revision + 1) this.#advance({ revision, token })
    else if (revision > this.revision) this.#ahead.set(revision, token)
    const revised = changes.map(({ key }) => ({ key, revision, token }))
    return this.#resolve(new Set(changed), revised)
  }

  /** Takes all changes up to a revision, oldest first. A value that came back to what it was has not changed. */
  replay(to: Revision, changes: readonly PastChange[]): readonly EffectiveChange[] {
    const changed = changes.filter((change) => this.#put(change, change.revision)).map(({ key }) => key)
    this.#advance(to)
    return this.#resolve(new Set(changed), changes)
  }

  /** Takes rows whose texts were encrypted anew, with the values and revisions they had. */
  reencrypt(rows: readonly StoredRow[]): readonly EffectiveChange[] {
    const changed = new Set<string>()
    for (const row of rows) {
      if (row.scope === SettingScope.User) continue
      const slot = this.#slots[row.scope].get(row.key)
      if (slot?.row?.revision !== row.revision) continue // written meanwhile
      this.#slots[row.scope].set(row.key, { row, revision: slot.revision })
      changed.add(row.key)
    }
    return this.resolveAgain(changed)
  }

  /** Resolves settings again: their locked values may have changed. */
  resolveAgain(keys: ReadonlySet<string>): readonly EffectiveChange[] {
    return this.#resolve(keys, [])
  }

  #resolve(
    keys: ReadonlySet<string>,
    revised: readonly RevisedKey[] | undefined,
  ): readonly EffectiveChange[] {
    if (keys.size > 0) this.#generation++
    const changes: EffectiveChange[] = []
    for (const key of keys) {
      const old = this.#states.get(key)
      if (!old) continue // it was never read
      const state = this.#toState(old.setting)
      this.#states.set(key, state)
      if (!isSame(old.shared, state.shared)) changes.push({ state, previous: old.shared })
    }
    this.onChange?.(keys, revised)
    return changes
  }

  #toState(setting: RegisteredSetting): SettingState {
    const system = this.#layer(setting, SettingScope.System)
    const application = this.#layer(setting, SettingScope.Application)
    const { key, scope } = setting.definition
    const isSystem = scope === SettingScope.System
    const { value: lockedValue, by = null } = this.#init.locked.get(key) ?? {}
    const shared = resolve({
      locked: lockedValue,
      application: isSystem ? undefined : application,
      system: isSystem ? system : undefined,
      default: setting.defaultValue,
    })
    return { setting, locked: lockedValue, lockedBy: by, system, application, shared }
  }

  #layer(setting: RegisteredSetting, scope: SharedScope): Layer | undefined {
    const row = this.#slots[scope].get(setting.definition.key)?.row
    return row && this.#init.codec.layerOf(setting, row)
  }

  /** Keeps the newer row. Returns whether the row changed. */
  #put({ scope, key, row }: SharedChange, at: number): boolean {
    if (scope === SettingScope.User) return false
    const known = this.#slots[scope].get(key)
    if (known && known.revision >= at) return false
    this.#slots[scope].set(key, { row, revision: at })
    return !isSameRow(known?.row, row)
  }

  #advance(to: Revision): void {
    if (to.revision > this.revision) this.#last = { revision: to.revision, token: to.token }
    for (const late of this.#ahead.keys()) if (late <= this.revision) this.#ahead.delete(late)
    for (;;) {
      const revision = this.revision + 1
      const token = this.#ahead.get(revision)
      if (token === undefined) return
      this.#ahead.delete(revision)
      this.#last = { revision, token }
    }
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
