/**
 * All System and Application values in memory. Every change is applied in one step of the event loop, so a reader
 * never sees half of a bulk; applying is order-independent, so a late reload cannot undo a newer write.
 */
import { NotFoundException } from '@fastify-modular/core'
import type { Registry } from '../definitions/registry.ts'
import type { RegisteredSetting } from '../values/validate.ts'
import { errorCodes } from '../misuse-errors.ts'
import { isOwned, type JsonValue, SettingScope, type SharedScope } from '../setting-definition.ts'
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
interface EffectiveChange {
  readonly state: SettingState
  readonly previous: Resolution
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
  /** `local`: this process changed it; `remote`: another one did. */
  readonly origin: 'local' | 'remote'
}

/** Why settings are resolved again. */
type ResolvedFor = Pick<SharedChange, 'kind' | 'origin'> & Partial<Pick<SharedChange, 'revision'>>

interface SharedValuesInit {
  readonly registry: Pick<Registry, 'find' | 'closest'>
  readonly codec: Pick<RowCodec, 'layerOf'>
  /** The host's locked values; `resolveAgain` after they have changed. */
  readonly locked: Locked
}

export class SharedValues {
  readonly #init: SharedValuesInit
  /** The last change of each value, by `nameOf`. */
  readonly #changes = new Map<string, PastChange>()
  readonly #states = new Map<string, SettingState>()
  #last = noRevision
  /** Tokens of writes of this process that are in here, by revision, while not all before them are. */
  readonly #ahead = new Map<number, string>()
  /** What is applied during a load may be later than what it brings. */
  #isLoading = false
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

  /** False while a later write is in here, but not all before it. */
  get complete(): boolean {
    return this.#ahead.size === 0
  }

  /** The revisions that a database must have whose values these are. */
  get origins(): readonly Revision[] {
    const ahead = [...this.#ahead].map(([revision, token]) => ({ revision, token }))
    return [{ revision: this.revision, token: this.token }, ...ahead]
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

  /** Whether a System or Application row is here as the database has it. True for rows of owners, which are elsewhere. */
  agrees(id: RowId, row: StoredRow | undefined): boolean {
    return isOwned(id.scope) || isSameRow(this.#changes.get(nameOf(id))?.row, row)
  }

  /** Call it before reading what `load` gets: only what is applied after it may be newer than that. */
  beginLoad(): void {
    this.#isLoading = true
    this.#giveWay(Infinity)
  }

  /** Takes all rows as of a revision, which may be lower than the one before: the database may have gone back. */
  load(at: Revision, rows: readonly StoredRow[]): SharedChange {
    this.#isLoading = false
    // A write that was applied meanwhile and is not in a later state belongs to a past that was lost.
    this.#giveWay(at.revision)
    const loaded = this.#take(rows.map((row) => ({ ...row, row })))
    const absent = [...this.#changes.values()].filter(({ revision }) => revision === unknown)
    const unset = this.#take(absent.map((change) => ({ ...change, row: undefined, revision: at.revision })))
    const isSame = revisionId(at) === revisionId(this)
    this.#last = { revision: at.revision, token: at.token }
    const keys = new Set([...loaded, ...unset])
    const kind = isSame && keys.size === 0 ? 'rows' : 'everything'
    return this.#resolve(keys, { kind, origin: 'remote' })
  }

  /** Takes what one write of System and Application rows by this process changed. */
  apply({ revision, token, changes }: WriteResult): SharedChange {
    const taken = this.#take(changes.map(({ scope, key, after: row }) => ({ scope, key, row, revision })))
    if (revision === this.revision + 1 && !this.#isLoading) this.#last = { revision, token }
    // What all before it lacks may be of a past that was lost.
    else if (revision > this.revision || taken.size > 0) this.#ahead.set(revision, token)
    return this.#resolve(taken, { kind: 'rows', origin: 'local', revision })
  }

  /** Takes all changes up to a revision, oldest first. A value that came back to what it was has not changed. */
  replay(to: Revision, changes: readonly PastChange[]): SharedChange {
    if (to.revision > this.revision) this.#last = { revision: to.revision, token: to.token }
    this.#reach(to.revision)
    return this.#resolve(this.#take(changes), { kind: 'rows', origin: 'remote' })
  }

  /** Resolves settings again: their locked values may have changed. */
  resolveAgain(keys: ReadonlySet<string>): SharedChange {
    return this.#resolve(keys, { kind: 'locks', origin: 'local' })
  }

  #resolve(keys: ReadonlySet<string>, { kind, origin, revision = this.revision }: ResolvedFor): SharedChange {
    if (keys.size > 0) this.#generation++
    const effective: EffectiveChange[] = []
    for (const key of keys) {
      const old = this.#states.get(key)
      if (!old) continue // it was never read
      const state = this.#toState(old.setting)
      this.#states.set(key, state)
      if (!isSame(old.shared, state.shared)) effective.push({ state, previous: old.shared })
    }
    return { effective, keys, kind, revision, origin }
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

  /** The next load replaces what is here up to a revision. Rows stay until then: readers see old values rather than none. */
  #giveWay(upTo: number): void {
    for (const [name, change] of this.#changes)
      if (change.revision <= upTo) this.#changes.set(name, { ...change, revision: unknown })
    this.#reach(upTo)
  }

  /** Everything up to a revision is in here. */
  #reach(upTo: number): void {
    for (const revision of this.#ahead.keys()) if (revision <= upTo) this.#ahead.delete(revision)
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

/** The revision of a change that a load replaces, whatever it brings. */
const unknown = -1

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
