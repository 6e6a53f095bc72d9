/**
 * All System and Application values in memory. Every change is applied in one step of the event loop, so a reader never sees
 * half of a bulk.
 */
import { NotFoundException } from '@fastify-modular/core'
import type { Registry } from '../definitions/registry.ts'
import type { RegisteredSetting } from '../values/validate.ts'
import { errorCodes } from '../misuse-errors.ts'
import { type JsonValue, SettingScope, type SharedScope } from '../setting-definition.ts'
import { type Locked, type LockedBy, lockedValueOf } from '../overrides.ts'
import { isPlaceOf } from '../places.ts'
import { isSameRow } from '../store/plan-write.ts'
import { noRevision, type Revision, revisionId } from '../store/revision.ts'
import type { RowId, StoredRow, WriteResult } from '../store/store.ts'
import type { Layer, RowCodec } from '../secrets/row-codec.ts'

/** One setting with its shared values. */
export interface SettingState {
  readonly setting: RegisteredSetting
  readonly locked: JsonValue | undefined
  /** Null where no value is locked. */
  readonly lockedBy: LockedBy | null
  /** The stored value of everybody. */
  readonly stored: Layer | undefined
  /** The answer to a read without a user. */
  readonly shared: Resolution
}

/** Whether users may have values of their own of a setting. */
export function isUserSetting({ setting }: Pick<SettingState, 'setting'>): boolean {
  return isPlaceOf(setting, SettingScope.User)
}

/** Whether tenants may have values of their own of a setting. */
export function isTenantSetting({ setting }: Pick<SettingState, 'setting'>): boolean {
  return isPlaceOf(setting, SettingScope.Tenant)
}

/** The scope in which a setting has its shared value: a User setting has everybody's default there. */
export function sharedScope({ setting }: Pick<SettingState, 'setting'>): SharedScope {
  return setting.places[0]
}

/** @throws {NotFoundException} no module defines the key */
export function requireSetting(sharedValues: SharedValues, key: string): SettingState {
  const state = sharedValues.find(key)
  if (!state) throw new NotFoundException('Setting', key)
  return state
}

/** A row as a revision left it; `row` undefined means unset. */
interface PastChange {
  readonly scope: SettingScope
  readonly key: string
  readonly row: StoredRow | undefined
  readonly revision: number
}

/** A setting whose read without a user has a new answer. */
export interface EffectiveChange {
  readonly state: SettingState
  readonly previous: Resolution
  /** `local`: this process changed it; `remote`: another one did. */
  readonly origin: 'local' | 'remote'
}

/** What memory holds anew of the values that all users share. */
export interface SharedChange {
  /** Settings whose read without a user has a new answer. */
  readonly effective: readonly EffectiveChange[]
  /** The keys of all rows and locked values that have changed. */
  readonly keys: ReadonlySet<string>
  /** What has changed: rows, locked values, or nobody knows what, because everything was read again. */
  readonly kind: 'rows' | 'locks' | 'everything'
  readonly revision: number
}

/** What a database has in all, as it was read. */
interface Loaded {
  readonly rows: readonly StoredRow[]
  /** Writes of this process that the rows may lack. */
  readonly later: readonly WriteResult[]
  /** The versions of other writes of this process. */
  readonly own: ReadonlySet<number>
}

interface SharedValuesInit {
  readonly registry: Pick<Registry, 'find' | 'closest'>
  readonly codec: Pick<RowCodec, 'layerOf'>
  /** The host's locked values; `resolveAgain` after they have changed. */
  readonly locked: Locked
}

export class SharedValues {
  readonly #init: SharedValuesInit
  /** The last change of each value, by `nameOf`. */
  #changes = new Map<string, PastChange>()
  readonly #states = new Map<string, SettingState>()
  #last = noRevision
  #generation = 0

  constructor(init: SharedValuesInit) {
    this.#init = init
  }

  /** The last revision up to which every write is in here. */
  get revision(): number {
    return this.#last.revision
  }

  /** The token of that revision. */
  get token(): string {
    return this.#last.token
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
    throw new errorCodes.FMOD_SETTINGS_UNKNOWN_KEY(
      key,
      closest === undefined ? '' : ` Did you mean "${closest}"?`,
    )
  }

  /** All System and Application rows, also those without a definition. */
  *rows(): Iterable<StoredRow> {
    for (const { row } of this.#changes.values()) if (row) yield row
  }

  /** Whether a revision has left something as it is now. */
  hasChangeOf(revision: number): boolean {
    for (const change of this.#changes.values()) if (change.revision === revision) return true
    return false
  }

  /** Whether a System or Application row is here as the database has it. */
  agrees(id: RowId, row: StoredRow | undefined): boolean {
    return isSameRow(this.#changes.get(nameOf(id))?.row, row)
  }

  /** Takes all rows as of a revision, which may be lower than the one before: the database may have gone back. */
  load(at: Revision, { rows, later, own }: Loaded): SharedChange {
    const before = this.#changes
    this.#changes = new Map(rows.map((row) => [nameOf(row), { ...row, row }]))
    for (const write of later) this.#take(changesOf(write))
    const keys = new Set<string>()
    for (const change of [...before.values(), ...this.#changes.values()]) {
      const name = nameOf(change)
      if (!isSameRow(before.get(name)?.row, this.#changes.get(name)?.row)) keys.add(change.key)
    }
    const isSame = revisionId(at) === revisionId(this)
    this.#last = { revision: at.revision, token: at.token }
    return this.#resolve(keys, isSame && keys.size === 0 ? 'rows' : 'everything', own)
  }

  /** Takes what one write of System and Application rows by this process changed. */
  apply(write: WriteResult): SharedChange {
    const { revision, token } = write
    const taken = this.#take(changesOf(write))
    if (revision === this.revision + 1) this.#last = { revision, token }
    return { ...this.#resolve(taken, 'rows', new Set([revision])), revision }
  }

  /** Takes all changes up to a revision, oldest first. A value that came back to what it was has not changed. */
  replay(to: Revision, changes: readonly PastChange[], own: ReadonlySet<number>): SharedChange {
    if (to.revision > this.revision) this.#last = { revision: to.revision, token: to.token }
    return this.#resolve(this.#take(changes), 'rows', own)
  }

  /** Resolves settings again: their locked values may have changed. */
  resolveAgain(keys: ReadonlySet<string>): SharedChange {
    return this.#resolve(keys, 'locks')
  }

  /** @param own the versions of writes of this process; without it, this process has changed everything */
  #resolve(keys: ReadonlySet<string>, kind: SharedChange['kind'], own?: ReadonlySet<number>): SharedChange {
    if (keys.size > 0) this.#generation++
    const effective: EffectiveChange[] = []
    for (const key of keys) {
      const old = this.#states.get(key)
      if (!old) continue // it was never read
      const state = this.#toState(old.setting)
      this.#states.set(key, state)
      if (isSame(old.shared, state.shared)) continue
      const change = this.#changes.get(nameOf({ scope: sharedScope(state), key }))
      const isOwn = own === undefined || (change !== undefined && own.has(change.revision))
      effective.push({ state, previous: old.shared, origin: isOwn ? 'local' : 'remote' })
    }
    return { effective, keys, kind, revision: this.revision }
  }

  #toState(setting: RegisteredSetting): SettingState {
    const { key } = setting.definition
    const row = this.#changes.get(nameOf({ scope: sharedScope({ setting }), key }))?.row
    const stored = row && this.#init.codec.layerOf(setting, row)
    const { value: locked, by: lockedBy = null } = lockedValueOf(setting, this.#init.locked) ?? {}
    // Named one by one: spreading costs more than the rest of a large bulk.
    const shared = resolve({ setting, locked, lockedBy, stored })
    return { setting, locked, lockedBy, stored, shared }
  }

  /** Keeps the newer changes. Returns the keys whose rows have changed. */
  #take(changes: readonly PastChange[]): Set<string> {
    const keys = new Set<string>()
    for (const { scope, key, row, revision } of changes) {
      const name = nameOf({ scope, key })
      const known = this.#changes.get(name)
      if (known && known.revision >= revision) continue
      this.#changes.set(name, { scope, key, row, revision })
      if (!isSameRow(known?.row, row)) keys.add(key)
    }
    return keys
  }
}

function changesOf({ revision, changes }: WriteResult): PastChange[] {
  return changes.map(({ scope, key, after: row }) => ({ scope, key, row, revision }))
}

function nameOf({ scope, key }: Pick<RowId, 'scope' | 'key'>): string {
  return `${scope} ${key}`
}

function isSame(a: Resolution, b: Resolution): boolean {
  return a.error === b.error && (a.value === b.value || JSON.stringify(a.value) === JSON.stringify(b.value))
}

/** A value and the layer that supplies it; `error` instead of the value when that layer is unreadable. */
export interface Resolution {
  readonly source: SettingSource
  readonly value: JsonValue
  readonly error?: Error
  /** Whether the value is stored encrypted. */
  readonly encrypted?: boolean
}

/** Locked, the user's own, the tenant's, stored for everybody, default: the first layer that has a value. */
export function resolve(state: Omit<SettingState, 'shared'>, own?: Layer, ofTenant?: Layer): Resolution {
  const { setting, locked, stored } = state
  if (locked !== undefined) return { source: 'locked', value: locked }
  return (
    supply('user', own) ??
    supply('tenant', ofTenant) ??
    supply(sharedSource(state), stored) ?? { source: 'default', value: setting.defaultValue }
  )
}

/** What the stored value of everybody is called as a source. */
export function sharedSource(state: Pick<SettingState, 'setting'>): SettingSource {
  return sharedScope(state) === SettingScope.System ? 'system' : 'application'
}

function supply(source: SettingSource, layer: Layer | undefined): Resolution | undefined {
  if (layer === undefined || layer.state === 'invalid') return undefined
  const { encrypted } = layer.row
  return layer.state === 'valid'
    ? { source, value: layer.value, encrypted }
    : { source, value: null, error: layer.error, encrypted }
}

/** Where a value comes from. */
export type SettingSource = 'locked' | 'user' | 'tenant' | 'application' | 'system' | 'default'
