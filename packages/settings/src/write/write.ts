/**
 * The one algorithm of every write: single, bulk, a user's own, import, rollback.
 * Locked → stale → invalid → one transaction, then memory, listeners, events.
 */
import { setImmediate } from 'node:timers/promises'
import { ArgumentException, type FieldErrors, isDomainException } from '@fastify-modular/core'
import type { Registry } from '../definitions/registry.ts'
import type { Observer } from '../diagnostics.ts'
import type { ChangePublisher, Listeners, Publication } from '../events.ts'
import {
  type Conflict,
  PreconditionFailedException,
  SettingLockedException,
  SettingsChangedException,
  SettingValidationException,
} from '../exceptions.ts'
import type { Coherence } from '../memory/coherence.ts'
import type { SettingState, SharedValues } from '../memory/shared-values.ts'
import { rowUser, type UserCache } from '../memory/user-values.ts'
import type { RowCodec } from '../secrets/row-codec.ts'
import { type JsonValue, SettingScope } from '../setting-definition.ts'
import { rowIdText } from '../store/plan-write.ts'
import type { Retention } from '../store/retention.ts'
import type { CurrentRows, RowChange, RowId, SettingsStore, StoredRow, WriteResult } from '../store/store.ts'
import { encodeValue, readText } from '../values/json.ts'
import { isSecret, validateValue } from '../values/validate.ts'
import { createPatternBudget, type PatternBudget } from '../values/pattern.ts'
import { type CrossRules, crossRulesOf } from './cross-rules.ts'

/** Whether a row, or the store, may be written at its current revision. */
export type Expects = (revision: number) => boolean

/** What one entry of a write wants; distinct rows within one write. */
export interface WriteEntry {
  readonly state: SettingState
  readonly scope: SettingScope
  /** Empty for System and Application. */
  readonly userId: string
  /** `clear` removes the stored value whatever the definition requires; setting null removes it where null is allowed. */
  readonly change: { readonly kind: 'set'; readonly value: JsonValue } | { readonly kind: 'clear' }
  /** Whether the row may be written at this revision (0: unset). */
  readonly expects?: Expects | undefined
}

/** The actor, the origin and the reason of a write: recorded in history and events. */
export interface WriteOptions {
  readonly actor?: string | null
  readonly origin?: string
  readonly requestId?: string | null
  readonly note?: string | null
}

/** How a write is carried out. */
interface WriteControl {
  /** Makes the error for rows that have changed since their writers read them. */
  readonly onStale: (stale: readonly Conflict[]) => Error
  /** Whether the whole store may be written at this revision. */
  readonly expects?: Expects | undefined
  /** Messages by key that were found before: reported together with those of the values. */
  readonly errors?: ReadonlyMap<string, readonly string[]>
  /** Decides everything and writes nothing. */
  readonly dryRun?: boolean
}

/** What a write did, or would do. */
export interface WriteOutcome {
  /** The store's revision after a write of System and Application values. */
  readonly revision: number
  /** One for each entry, in their order. */
  readonly entries: readonly EntryOutcome[]
}

export interface EntryOutcome {
  readonly before: StoredRow | undefined
  /** What changes the row; undefined where it is already so. */
  readonly change: RowChange | undefined
  /** The row after the write; after a dry run what is there. */
  readonly after: StoredRow | undefined
}

type Decision = Omit<EntryOutcome, 'after'>

export type Write = (
  entries: readonly WriteEntry[],
  options: WriteOptions,
  control: WriteControl,
) => Promise<WriteOutcome>

/** What a write works with. */
export interface WriteInit {
  readonly registry: Pick<Registry, 'rulesOf'>
  readonly codec: RowCodec
  readonly sharedValues: Pick<SharedValues, 'find' | 'apply'>
  readonly users: Pick<UserCache, 'forget'>
  readonly store: Pick<SettingsStore, 'shared' | 'users'>
  readonly coherence: Pick<Coherence, 'observe' | 'afterFailure' | 'confirm' | 'closeGap'>
  readonly listeners: Pick<Listeners, 'notify'>
  readonly publisher: ChangePublisher
  readonly observer: Pick<Observer, 'count' | 'wrote'>
  readonly retention: Pick<Retention, 'wrote'> | undefined
}

export function createWrite(init: WriteInit): Write {
  const { observer } = init
  return async function write(entries, options, control) {
    let isStale = false
    const onStale: WriteControl['onStale'] = (stale) => {
      isStale = true
      return control.onStale(stale)
    }
    try {
      return await writeEntries(init, entries, options, { ...control, onStale })
    } catch (error) {
      observer.count(isStale ? 'conflicts' : isRefusal(error) ? 'refusals' : 'failures')
      throw error
    }
  }
}

async function writeEntries(
  init: WriteInit,
  wanted: readonly WriteEntry[],
  { actor = null, origin = 'contract', requestId = null, note = null }: WriteOptions,
  control: WriteControl,
): Promise<WriteOutcome> {
  const { codec, coherence, publisher, store } = init
  refuseLocked(wanted)
  const budget = createPatternBudget()
  const { entries, errors } = await validateInTurns(wanted, budget, control.errors)
  // A stale write is refused as stale first, which needs the rows; without a condition invalid values need no transaction.
  const mayBeStale = control.expects !== undefined || entries.some(({ expects }) => expects !== undefined)
  if (errors && !mayBeStale) throw errors

  const ids = entries.map(idOf)
  const ofUsers = ids.some(({ scope }) => scope === SettingScope.User)
  const crossRules = findCrossRules(init, entries, ids)
  let decided: readonly Decision[] = []
  function decide(current: CurrentRows): readonly RowChange[] {
    if (!ofUsers) coherence.observe(current)
    refuseStale(entries, current, control)
    // S 2.3.1: again; this is the value that is stored.
    const invalid = errors ?? validate(entries, budget) ?? toValidationException(crossRules.check(current))
    if (invalid) throw invalid
    decided = entries.map((entry, index) => decideEntry(entry, ids[index] ?? idOf(entry), current, codec))
    return control.dryRun ? [] : decided.flatMap(({ change }) => change ?? [])
  }

  const publication = publisher.begin(actor)
  const request = { actor, origin, requestId, note, reads: [...ids, ...crossRules.reads], decide }
  // Without events a store need not wait between the rows and the commit.
  const { enqueue } = publication
  const writing = (ofUsers ? store.users : store.shared).write(enqueue ? { ...request, enqueue } : request)
  const written = await writing.catch(async (error: unknown) => {
    await coherence.afterFailure(error)
    throw error
  })
  const outcomes = decided.map(toOutcome(written))
  if (!control.dryRun) codec.trust(outcomes.flatMap(({ after }) => after ?? []))
  if (written.changes.length > 0) await applyCommit(init, written, { actor, publication })
  // A caller whose value was stored already then reads it here, whatever memory held.
  await coherence.confirm(
    decided.flatMap(({ before, change }, index) => {
      const id = change === undefined ? ids[index] : undefined
      return id ? { id, row: before } : []
    }),
  )
  return { revision: written.revision, entries: outcomes }
}

/** Memory first, so that listeners and subscribers read the new value. Never rejects. */
async function applyCommit(
  init: WriteInit,
  written: WriteResult,
  { actor, publication }: { readonly actor: string | null; readonly publication: Publication },
): Promise<void> {
  const { sharedValues, users, coherence, observer, listeners, retention } = init
  const { revision, changes } = written
  const shared = changes.filter(({ scope }) => scope !== SettingScope.User)
  if (shared.length === 0) users.forget(changes.map(({ userId }) => userId))
  else {
    const effective = sharedValues.apply(
      written,
      shared.map(({ scope, key, after }) => ({ scope, key, row: after })),
    )
    coherence.closeGap()
    listeners.notify(effective, revision, 'local')
  }
  observer.wrote(written, actor)
  retention?.wrote(written)
  await publication.committed(written)
}

const noRules: CrossRules = { reads: [], check: () => new Map() }

function findCrossRules(init: WriteInit, entries: readonly WriteEntry[], ids: readonly RowId[]): CrossRules {
  const { registry, codec, sharedValues } = init
  if (ids.every(({ key }) => registry.rulesOf(key).length === 0)) return noRules
  const values = entries.map((entry) => ({
    id: idOf(entry),
    value: entry.change.kind === 'set' ? entry.change.value : null,
  }))
  return crossRulesOf(values, { registry, codec, find: (key) => sharedValues.find(key) })
}

function refuseLocked(entries: readonly WriteEntry[]): void {
  const locked = entries.filter(({ state }) => state.locked !== undefined)
  if (locked.length > 0) throw new SettingLockedException([...new Set(locked.map(keyOf))])
}

/** A copy of a value that the caller may change while the write waits, or whose getters answer differently each time. */
function withOwnValue(entry: WriteEntry): WriteEntry {
  const { change } = entry
  if (change.kind === 'clear' || typeof change.value !== 'object' || change.value === null) return entry
  return { ...entry, change: { kind: 'set', value: readText(encodeValue(change.value)) } }
}

/** Adds the row after the write: made by the write, or what was there where it changed nothing. */
function toOutcome({ changes }: WriteResult): (decision: Decision) => EntryOutcome {
  const changed = new Map(changes.map((change) => [rowIdText(change), change]))
  return ({ before, change }) => {
    const applied = change && changed.get(rowIdText(change))
    return { before, change, after: applied ? applied.after : before }
  }
}

/** One exception for entries that break their definitions, with all messages of all keys; undefined if none does. */
function toValidationException(errors: ReadonlyMap<string, readonly string[]>): Error | undefined {
  const [first] = errors
  // fromEntries defines its members: a key named __proto__ is a key like any other.
  return (
    first && new SettingValidationException(first[0], first[1], Object.fromEntries(errors) as FieldErrors)
  )
}

/**
 * Validates the values, and copies those that are valid. Between two texts that are matched against patterns the event
 * loop has a turn: together they may take half a second.
 */
async function validateInTurns(
  wanted: readonly WriteEntry[],
  budget: PatternBudget,
  found?: ReadonlyMap<string, readonly string[]>,
) {
  const errors = new Map(found)
  const entries: WriteEntry[] = []
  let isAfterMatch = false
  for (const entry of wanted) {
    const hasPattern = entry.state.setting.pattern !== null
    if (hasPattern && isAfterMatch) await setImmediate()
    isAfterMatch ||= hasPattern
    entries.push(addErrors(entry, budget, errors) ? entry : withOwnValue(entry))
  }
  return { entries, errors: toValidationException(errors) }
}

function validate(entries: readonly WriteEntry[], budget: PatternBudget): Error | undefined {
  const errors = new Map<string, readonly string[]>()
  for (const entry of entries) addErrors(entry, budget, errors)
  return toValidationException(errors)
}

/** Returns whether there are any. */
function addErrors(
  entry: WriteEntry,
  budget: PatternBudget,
  errors: Map<string, readonly string[]>,
): boolean {
  if (entry.change.kind === 'clear') return false
  const messages = validateValue(entry.state.setting, entry.change.value, budget)
  if (messages.length > 0) errors.set(keyOf(entry), [...(errors.get(keyOf(entry)) ?? []), ...messages])
  return messages.length > 0
}

function refuseStale(
  entries: readonly WriteEntry[],
  current: CurrentRows,
  { onStale, expects }: WriteControl,
): void {
  if (expects && !expects(current.revision)) throw onStale([])
  const stale = entries.flatMap((entry) => {
    if (!entry.expects) return []
    const { revision: version = 0, updatedAt, updatedBy = null } = current.get(idOf(entry)) ?? {}
    if (entry.expects(version)) return []
    const at = updatedAt === undefined ? null : new Date(updatedAt).toISOString()
    return { key: keyOf(entry), scope: entry.scope, version, updatedBy, updatedAt: at }
  })
  if (stale.length > 0) throw onStale(stale)
}

function decideEntry(entry: WriteEntry, id: RowId, current: CurrentRows, codec: RowCodec): Decision {
  const before = current.get(id)
  const { scope, userId, key } = id // named one by one: spreading costs more than the rest of a large bulk
  const value = entry.change.kind === 'set' ? entry.change.value : null
  if (value === null) return { before, change: before && { scope, userId, key, value, encrypted: false } }
  const text = encodeValue(value)
  if (before && isNoChange(entry, before, text)) return { before, change: undefined }
  const stored = codec.toStored(entry.state.setting, id, text)
  return { before, change: { scope, userId, key, value: stored.value, encrypted: stored.encrypted } }
}

/** Writing an equal value is no change, unless it is secret: a guess must not show that it is equal. */
function isNoChange({ state }: WriteEntry, before: StoredRow, text: string): boolean {
  return !isSecret(state.setting, before) && before.value === text
}

function keyOf({ state }: WriteEntry): string {
  return state.setting.definition.key
}

export type ChangeKind = 'create' | 'update' | 'delete' | 'none'

/** The kind of change that an entry of a write makes, or would make. */
export function changeKind({ before, change }: Partial<EntryOutcome>): ChangeKind {
  if (!change) return 'none'
  if (change.value === null) return 'delete'
  return before ? 'update' : 'create'
}

/** Whether the write itself is at fault: its values break their definitions, or the host locked them. */
function isRefusal(error: unknown): boolean {
  return isDomainException(error) && error.statusCode < 500
}

/** The row of an entry. */
function idOf({ state, scope, userId }: WriteEntry): RowId {
  return { scope, userId, key: state.setting.definition.key }
}

/** One entry of a bulk write. */
export interface BulkSettingUpdate {
  readonly key: string
  readonly scope: SettingScope
  /** `null` clears the stored value. */
  readonly value: JsonValue
  /** The row's version that the caller saw; a different one fails with `ConflictException`. 0 means unset. */
  readonly version?: number
}

/** The entries of a bulk write, and the errors of unknown settings: one report covers everything. */
export interface BulkEntries {
  readonly entries: readonly WriteEntry[]
  readonly errors: ReadonlyMap<string, readonly string[]>
}

/** @throws {ArgumentException} a User-scoped entry, or one row twice */
export function toBulkEntries(
  sharedValues: SharedValues,
  updates: readonly BulkSettingUpdate[],
): BulkEntries {
  const rows = new Set<string>()
  const errors = new Map<string, readonly string[]>()
  const entries = updates.flatMap(({ key, scope, value, version }): WriteEntry[] => {
    if (scope === SettingScope.User)
      throw new ArgumentException('A bulk write takes System and Application entries only.', 'scope')
    const row = `${scope} ${key}`
    if (rows.has(row)) throw new ArgumentException(`The setting "${key}" is in the list twice.`, 'key')
    rows.add(row)
    const userId = rowUser(scope, undefined)
    const state = sharedValues.find(key)
    if (!state) errors.set(key, ['Unknown setting.'])
    const expects = version === undefined ? undefined : (revision: number) => revision === version
    return state ? [{ state, scope, userId, change: { kind: 'set', value }, expects }] : []
  })
  return { entries, errors }
}

/** 412; with the current tag where one row was written. */
export function toPreconditionFailed([row]: readonly Conflict[]): Error {
  return new PreconditionFailedException(row)
}

/** 409 with the rows that changed since they were read. */
export function toConflict(conflicts: readonly Conflict[]): Error {
  return new SettingsChangedException(conflicts)
}
