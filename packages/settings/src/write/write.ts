/**
 * The one algorithm of every write: single, bulk, a user's own, import, rollback.
 * Forbidden → locked → stale → invalid → one transaction, then memory, listeners, events.
 */
import { setImmediate } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { ArgumentException, type Caller, ConflictException, type FieldErrors } from '@fastify-modular/core'
import type { Registry } from '../definitions/registry.ts'
import type { Observer } from '../diagnostics.ts'
import { beginPublication, type PublisherInit } from '../events.ts'
import {
  PreconditionFailedException,
  SettingLockedException,
  SettingsChangedException,
  SettingValidationException,
} from '../exceptions.ts'
import type { Changes } from '../memory/changes.ts'
import type { Coherence } from '../memory/coherence.ts'
import type { SettingState, SharedValues } from '../memory/shared-values.ts'
import type { OwnedCache } from '../memory/owned-values.ts'
import { requirePlace } from '../places.ts'
import type { Layer, RowCodec } from '../secrets/row-codec.ts'
import { isOwned, type JsonValue, SettingScope } from '../setting-definition.ts'
import { ownerOf, rowIdText, tenantOf } from '../store/plan-write.ts'
import type { CurrentRows, RowChange, RowId, StorePort, StoredRow, WriteResult } from '../store/store.ts'
import type { Revision } from '../store/revision.ts'
import type { StoredWindow } from '../store/windows.ts'
import { encodeValue, readText } from '../values/json.ts'
import { isSecret, parseValue } from '../values/validate.ts'
import { mayWrite, requireWritePermissions } from '../visibility.ts'
import { createPatternBudget, type PatternBudget } from '../values/pattern.ts'
import { opening, type WindowHook } from './windows.ts'
import { crossRulesOf } from './cross-rules.ts'
import { failureOf, reportSchemas } from './failures.ts'

/** Whether a row, or the store, may be written at its current revision. */
export type Expects = (revision: number) => boolean

/** One entry of a write; its entries are of distinct rows, all of one owner or none of any. */
export interface WriteEntry extends RowId {
  readonly state: SettingState
  /** Null removes the stored value where the definition allows that. */
  readonly value: JsonValue
  /** Whether the stored value is removed whatever the definition requires; `value` is null then. */
  readonly isReset?: boolean
  /** Whether the value to write was a secret, which its definition would show now; `value` is null then. */
  readonly wasSecret?: boolean
  /** Whether the row may be written at this revision (0: unset), where `last` wrote or removed it. */
  readonly expects?: ((revision: number, last: number) => boolean) | undefined
}

/** Of an entry that removes the stored value whatever the definition requires. */
export const reset = { value: null, isReset: true } as const

/** The actor, the origin and the reason of a write: recorded in history and events. */
export interface WriteOptions {
  readonly actor?: string | null
  readonly origin?: string
  readonly requestId?: string | null
  readonly note?: string | null
  /** Seconds within which the change is kept by a call or a request, or put back: 5 to 86,400. Of System and Application values. */
  readonly confirmWithin?: number | undefined
}

/** How a write is carried out. */
export interface WriteControl {
  /** For whom shared values are written: the permissions that their definitions name are asked for. Code in process is trusted. */
  readonly caller?: Caller | undefined
  /** Rows that have changed since they were read are all named by a 409, in place of a 412 with the tag of the one row. */
  readonly isBulk?: boolean
  /** Whether the whole store may be written at this revision; where not, the write is refused with 412. */
  readonly expects?: Expects | undefined
  /** Messages by key that were found before: reported together with those of the values. */
  readonly errors?: ErrorsByKey
  /** Keys that no module defines: an error of each. */
  readonly unknown?: readonly string[]
  /** Decides everything and writes nothing. */
  readonly dryRun?: boolean
  /** The tenant in which rules across settings see a user's value. */
  readonly tenant?: string | undefined
  /** What the write does to a change set that has to be kept. */
  readonly window?: WindowHook
}

/** What a write did, or would do. */
export interface WriteOutcome {
  /** The store's revision after a write of System and Application values. */
  readonly revision: number
  /** One for each entry, in their order. */
  readonly entries: readonly EntryOutcome[]
  /** What the write opened or settled. */
  readonly window?: StoredWindow | undefined
}

export type ChangeKind = 'create' | 'update' | 'delete' | 'none'

export interface EntryOutcome {
  readonly entry: WriteEntry
  readonly kind: ChangeKind
  readonly before: StoredRow | undefined
  /** The row after the write; after a dry run the current one. */
  readonly after: StoredRow | undefined
}

/** The decision about one entry; without a change if its row has the value already. */
interface Decision extends Omit<EntryOutcome, 'after'> {
  readonly change: RowChange | undefined
}

type ErrorsByKey = ReadonlyMap<string, readonly string[]>

export type Write = (
  entries: readonly WriteEntry[],
  options: WriteOptions,
  control?: WriteControl,
) => Promise<WriteOutcome>

/** What a write works with. */
export interface WriteInit extends PublisherInit {
  readonly registry: Registry
  readonly codec: RowCodec
  readonly sharedValues: SharedValues
  readonly users: OwnedCache
  /** The values of tenants. */
  readonly tenants: OwnedCache
  readonly store: StorePort
  readonly changes: Changes
  readonly coherence: Coherence
  readonly observer: Observer
}

export function createWrite(init: WriteInit): Write {
  return async function write(entries, options, control = {}) {
    try {
      return await writeEntries(init, entries, options, control)
    } catch (error) {
      if (control.dryRun !== true) init.observer.count(failureOf(error))
      reportSchemas(error, init.log)
      throw error
    }
  }
}

async function writeEntries(
  init: WriteInit,
  wanted: readonly WriteEntry[],
  { actor = null, origin = 'contract', requestId = null, note = null, confirmWithin }: WriteOptions,
  control: WriteControl,
): Promise<WriteOutcome> {
  const { codec, coherence, store, changes } = init
  const hook = confirmWithin === undefined ? control.window : opening(confirmWithin)
  // What is stored elsewhere may be older than the definition: nothing reads it, and it can be removed.
  for (const { state, scope, isReset } of wanted) if (!isReset) requirePlace(state.setting, scope)
  const guarded = wanted.filter((entry) => isGuarded(entry, control.caller))
  // Rows of owners are not here: whether a list leaves them as they are is seen under the lock.
  const isKnown = (entry: WriteEntry) => isOwned(entry.scope) || isEqual(entry, entry.state.stored)
  refuseGuarded(control.isBulk ? guarded.filter((entry) => !isKnown(entry)) : guarded, control.caller)
  refusePastSecrets(wanted)
  const budget = createPatternBudget()
  const errors = new Map(control.errors)
  for (const key of control.unknown ?? []) errors.set(key, ['Unknown setting.'])
  const entries = await validateInTurns(wanted, errors, budget)
  // What is locked or stale is reported before 422, where that needs the rows; others are refused without a transaction.
  const isConditional =
    control.expects !== undefined ||
    entries.some(({ expects }) => expects !== undefined) ||
    guarded.some(({ scope }) => isOwned(scope))
  if (!isConditional) refuseInvalid(errors)

  const owner = entries[0] && ownerOf(entries[0])
  if (confirmWithin !== undefined && (owner || control.dryRun))
    throw new ArgumentException('Only changes of shared values can be kept or put back.', 'confirmWithin')
  if (confirmWithin !== undefined && control.window)
    throw new ArgumentException('What settles a change opens no other one.', 'confirmWithin')
  const crossRules = crossRulesOf(entries, init, control.tenant)
  let decided: readonly Decision[] = []
  let found: Revision | undefined
  function decide(current: CurrentRows): readonly RowChange[] {
    if (!owner) found = { revision: current.revision, token: current.token }
    const isSame = (entry: WriteEntry) => {
      const row = current.get(entry)
      return isEqual(entry, row && codec.layerOf(entry.state.setting, row))
    }
    refuseGuarded(
      guarded.filter((entry) => !isSame(entry)),
      control.caller,
    )
    refuseStale(entries, current, control)
    refuseInvalid(errors)
    // What stays as it is does not count.
    hook?.check(
      current,
      entries.filter((entry) => !isSame(entry)),
    )
    // S 2.3.1: again; these are the values that are stored.
    for (const entry of entries) parseEntry(entry, errors, budget)
    refuseInvalid(errors)
    decided = entries.map((entry) =>
      isGuarded(entry, control.caller) ? unchanged(entry, current) : decideEntry(entry, current, codec),
    )
    const rows = decided.flatMap(({ change }) => change ?? [])
    refuseInvalid(crossRules.check(current, rows))
    return control.dryRun ? [] : rows
  }

  const publication = beginPublication(init, actor)
  const request = { actor, origin, requestId, note, reads: [...entries, ...crossRules.reads], decide }
  // Without events a store need not wait between the rows and the commit.
  const { enqueue } = publication
  let window: StoredWindow | undefined
  const save = (result: WriteResult) => (window = hook?.save(result))
  const complete = { ...request, ...(enqueue && { enqueue }), ...(hook && { window: save }) }
  const writing = owner ? store.owned.write(owner, complete) : store.shared.write(complete)
  const written = await writing.catch(async (error: unknown) => {
    await coherence.afterFailure(error, found)
    throw error
  })
  const outcomes = toOutcomes(decided, written)
  if (!control.dryRun) codec.trust(outcomes.flatMap(({ after }) => after ?? []))
  // Memory takes a write before subscribers of its events are called, who read the new value. It may also lack a value that
  // was stored already: the caller reads it after this.
  const same = outcomes.flatMap(({ kind, entry, before }) =>
    kind === 'none' ? { id: entry, row: before } : [],
  )
  if (found) await coherence.take({ written, found, same })
  else if (owner && written.changes.length + same.length > 0) changes.owned({ owners: [owner] })
  if (written.changes.length > 0) changes.wrote({ ...written, actor })
  await publication.committed(written)
  if (window) changes.windows()
  return { revision: written.revision, entries: outcomes, window }
}

/** Whether the host locked the setting, or the caller lacks the permission that its definition names. */
function isGuarded({ state, scope }: WriteEntry, caller: Caller | undefined): boolean {
  const isForbidden =
    caller !== undefined && scope !== SettingScope.User && !mayWrite(caller, state.setting.definition)
  return state.locked !== undefined || isForbidden
}

/**
 * Whether an entry has the value that is stored, as it is read. Of a secret never: it would tell who guesses.
 */
function isEqual({ state, value }: WriteEntry, stored: Layer | undefined): boolean {
  if (isSecret(state.setting, stored?.row)) return false
  if (!stored) return value === null
  // -0 is stored as 0, which strict equality of members tells apart.
  return stored.state === 'valid' && (value === stored.value || isDeepStrictEqual(value, stored.value))
}

/** @throws {ForbiddenException | SettingLockedException} the caller may not write one, or the host locked one */
function refuseGuarded(entries: readonly WriteEntry[], caller: Caller | undefined): void {
  const shared = entries.filter(({ scope }) => scope !== SettingScope.User)
  if (caller)
    requireWritePermissions(
      caller,
      shared.map(({ state }) => state.setting.definition),
    )
  const locked = entries.filter(({ state }) => state.locked !== undefined)
  if (locked.length > 0) throw new SettingLockedException([...new Set(locked.map(({ key }) => key))])
}

/** @throws {ConflictException} nothing decrypts a secret into a row that shows it */
function refusePastSecrets(entries: readonly WriteEntry[]): void {
  const past = entries.filter(({ wasSecret }) => wasSecret)
  if (past.length > 0)
    throw new ConflictException(`Was a secret, so write it again: ${past.map(({ key }) => key).join(', ')}.`)
}

/** Copies a value, which the caller may change while the write waits, or whose getters may return another value each time. */
function withOwnValue(entry: WriteEntry): WriteEntry {
  const { value } = entry
  if (typeof value !== 'object' || value === null) return entry
  return { ...entry, value: readText(encodeValue(value)) }
}

/** Adds the row after the write, which is the one before it if nothing changed. */
function toOutcomes(decided: readonly Decision[], { changes }: WriteResult): EntryOutcome[] {
  const changed = new Map(changes.map((change) => [rowIdText(change), change]))
  return decided.map(({ entry, kind, before, change }) => {
    const applied = change && changed.get(rowIdText(change))
    return { entry, kind, before, after: applied ? applied.after : before }
  })
}

/** @throws {SettingValidationException} there are messages: with those of all keys */
function refuseInvalid(errors: ErrorsByKey): void {
  const [first] = errors
  // fromEntries defines its members: a key named __proto__ is a key like any other.
  if (first)
    throw new SettingValidationException(first[0], first[1], Object.fromEntries(errors) as FieldErrors)
}

/**
 * Validates the values, and copies those that are valid. Before each one that a pattern or a schema may take long
 * to check the event loop has a turn: together they may take half a second.
 */
async function validateInTurns(
  wanted: readonly WriteEntry[],
  errors: Map<string, readonly string[]>,
  budget: PatternBudget,
): Promise<readonly WriteEntry[]> {
  const entries: WriteEntry[] = []
  for (const entry of wanted) {
    const { pattern, parseSchema } = entry.state.setting
    if (entries.length > 0 && (pattern ?? parseSchema) !== null) await setImmediate()
    const parsed = parseEntry(entry, errors, budget)
    entries.push(parsed ? withOwnValue(parsed) : entry)
  }
  return entries
}

/** Returns the entry with the value to store; undefined where there are errors. */
function parseEntry(
  entry: WriteEntry,
  errors: Map<string, readonly string[]>,
  budget: PatternBudget,
): WriteEntry | undefined {
  const { state, key, isReset = false } = entry
  if (isReset) return entry
  const { value, errors: messages } = parseValue(state.setting, entry.value, budget)
  // Spreading costs more than the rest of a large bulk.
  if (messages.length === 0) return value === entry.value ? entry : { ...entry, value }
  errors.set(key, [...(errors.get(key) ?? []), ...messages])
  return undefined
}

/** @throws {PreconditionFailedException | SettingsChangedException} the store, or a row, is not what the caller saw */
function refuseStale(
  entries: readonly WriteEntry[],
  current: CurrentRows,
  { isBulk = false, expects }: WriteControl,
): void {
  if (expects && !expects(current.revision)) throw new PreconditionFailedException()
  const stale = entries.flatMap((entry) => {
    if (!entry.expects) return []
    const row = current.get(entry)
    const { revision: version = 0, updatedAt, updatedBy = null } = row ?? {}
    if (entry.expects(version, row ? version : current.lastVersion(entry))) return []
    const at = updatedAt === undefined ? null : new Date(updatedAt).toISOString()
    return { key: entry.key, scope: entry.scope, version, updatedBy, updatedAt: at }
  })
  const [first] = stale
  if (first && isBulk) throw new SettingsChangedException(stale)
  if (first) throw new PreconditionFailedException({ ...first, tenant: tenantOf(entries[0]) })
}

function unchanged(entry: WriteEntry, current: CurrentRows): Decision {
  return { entry, kind: 'none', before: current.get(entry), change: undefined }
}

// Members of changes are named one by one: spreading costs more than the rest of a large bulk.
function decideEntry(entry: WriteEntry, current: CurrentRows, codec: RowCodec): Decision {
  const before = current.get(entry)
  const { state, scope, owner, key, value } = entry
  if (value === null) {
    if (!before) return unchanged(entry, current)
    return { entry, kind: 'delete', before, change: { scope, owner, key, value, encrypted: false } }
  }
  const text = encodeValue(value)
  // Writing an equal value is no change, unless it is secret: a guess must not show that it is equal.
  if (before?.value === text && !isSecret(state.setting, before)) return unchanged(entry, current)
  const stored = codec.toStored(state.setting, entry, text)
  const change = { scope, owner, key, value: stored.value, encrypted: stored.encrypted }
  return { entry, kind: before ? 'update' : 'create', before, change }
}

/** Whether a row is still at the version that the caller saw, 0 for unset; no condition without one. */
export function isVersion(version: number | undefined): Expects | undefined {
  return version === undefined ? undefined : (found) => found === version
}
