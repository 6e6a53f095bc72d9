/**
 * The one algorithm of every write: single, bulk, a user's own, import, rollback.
 * Locked → stale → invalid → one transaction (decision 22), then memory, listeners, events.
 */
import {
  ConflictException,
  type FieldErrors,
  isDomainException,
  SettingValidationException,
} from '@fastify-modular/core'
import type { Observer } from '../diagnostics.ts'

import type { ChangePublisher } from '../events/change-events.ts'
import { SettingLockedException } from '../exceptions.ts'
import type { Coherence } from '../memory/coherence.ts'
import type { SettingState } from '../memory/shared-values.ts'
import type { RowCodec } from '../secrets/row-codec.ts'
import type { JsonValue, SettingScope } from '../setting-definition.ts'
import { RowMap } from '../store/row-map.ts'
import type { CurrentRows, RowChange, RowId, StoredRow, WriteResult } from '../store/store.ts'
import { encodeValue, readText } from '../values/decode.ts'
import { isSecret } from '../values/registered-setting.ts'
import { createPatternBudget, type PatternBudget } from '../values/pattern.ts'
import { validateValue } from '../values/validate.ts'

/** What one entry of a write wants; distinct rows within one write. */
export interface WriteEntry {
  readonly state: SettingState
  readonly scope: SettingScope
  /** Empty for System and Application. */
  readonly userId: string
  /** `clear` removes the stored value without asking the definition; setting null removes it where null is allowed. */
  readonly change: { readonly kind: 'set'; readonly value: JsonValue } | { readonly kind: 'clear' }
  /** Whether the row may be written at this revision (0: unset). */
  readonly expects?: ((revision: number) => boolean) | undefined
}

/** A row that is not the one its writer saw. */
export interface StaleRow {
  readonly key: string
  readonly scope: SettingScope
  /** The row's current revision, 0 when unset. */
  readonly version: number
}

interface WriteSettings {
  /** Makes the answer to rows that changed since their writers read them. */
  readonly onStale: (stale: readonly StaleRow[]) => Error
  /** Whether the whole store may be written at this revision. */
  readonly expects?: ((revision: number) => boolean) | undefined
  /** Messages by key that were found before: reported together with those of the values. */
  readonly errors?: ReadonlyMap<string, readonly string[]>
  /** Decides everything and writes nothing. */
  readonly dryRun?: boolean
}

/** What a write did, or would do. */
export interface WriteOutcome {
  /** The store's revision after it. */
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

/** Rules about several settings that a write touches. */
export interface CrossRules {
  /** The rows that the rules look at and the write does not change. */
  readonly reads: readonly RowId[]
  /** Messages by key about the state that the write would leave behind. */
  check(current: CurrentRows): ReadonlyMap<string, readonly string[]>
}

export type Write = (
  entries: readonly WriteEntry[],
  options: WriteOptions,
  settings: WriteSettings,
) => Promise<WriteOutcome>

/**
 * @param coherence writes to the store, and keeps memory in step with it
 * @param committed takes what a commit changed, with its actor; must not reject
 */
export function createWrite(
  coherence: Pick<Coherence, 'write' | 'confirm'>,
  codec: RowCodec,
  enqueueAs: ChangePublisher['enqueueAs'],
  committed: (written: WriteResult, actor: string | null) => Promise<void>,
  crossRulesOf: (entries: readonly WriteEntry[]) => CrossRules,
): Write {
  return async function write(
    wanted,
    { actor = null, origin = 'contract', requestId = null, note = null },
    settings,
  ) {
    const locked = wanted.filter(({ state }) => state.locked !== undefined)
    if (locked.length > 0) throw new SettingLockedException([...new Set(locked.map(keyOf))])

    const budget = createPatternBudget()
    const errors = validate(wanted, budget, settings.errors)
    const entries = errors ? wanted : wanted.map(withOwnValue)
    // Who is stale hears that first, which takes the rows; all others need no transaction to hear what is wrong.
    const mayBeStale = settings.expects !== undefined || entries.some(({ expects }) => expects !== undefined)
    if (errors && !mayBeStale) throw errors

    const crossRules = crossRulesOf(entries)
    const ids = entries.map(idOf)
    let decided: readonly Decision[] = []
    function decide(current: CurrentRows): readonly RowChange[] {
      refuseStale(entries, current, settings)
      // S 2.3.1: again; this is the value that is stored.
      const invalid = errors ?? validate(entries, budget) ?? toValidationException(crossRules.check(current))
      if (invalid) throw invalid
      decided = entries.map((entry, index) => decideEntry(entry, ids[index] ?? idOf(entry), current, codec))
      return settings.dryRun ? [] : decided.flatMap(({ change }) => change ?? [])
    }

    const enqueue = enqueueAs(actor)
    const written = await coherence.write({
      actor,
      origin,
      requestId,
      note,
      reads: [...ids, ...crossRules.reads],
      decide,
      // Without events a store need not wait between the rows and the commit.
      ...(enqueue && { enqueue }),
    })
    const outcomes = decided.map(toOutcome(written))
    if (!settings.dryRun) codec.trust(outcomes.flatMap(({ after }) => after ?? []))
    if (written.changes.length > 0) await committed(written, actor)
    // Who is told that a value is stored already reads it here, whatever memory knew.
    await coherence.confirm(
      decided.flatMap(({ before, change }, index) => {
        const id = change === undefined ? ids[index] : undefined
        return id ? { id, row: before } : []
      }),
    )
    return { revision: written.revision, entries: outcomes }
  }
}

/** The identity of an entry's row. */
export function idOf({ state, scope, userId }: WriteEntry): RowId {
  return { scope, userId, key: state.setting.definition.key }
}

/** A copy of what the caller may change while the write waits, or answers differently when asked again (a getter). */
function withOwnValue(entry: WriteEntry): WriteEntry {
  const { change } = entry
  if (change.kind === 'clear' || typeof change.value !== 'object' || change.value === null) return entry
  return { ...entry, change: { kind: 'set', value: readText(encodeValue(change.value)) } }
}

/** Adds the row after the write: made by the write, or what was there where it changed nothing. */
function toOutcome({ changes }: WriteResult): (decision: Decision) => EntryOutcome {
  const changed = new RowMap<WriteResult['changes'][number]>()
  for (const change of changes) changed.set(change, change)
  return ({ before, change }) => {
    const applied = change && changed.get(change)
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

function validate(
  entries: readonly WriteEntry[],
  budget: PatternBudget,
  found?: ReadonlyMap<string, readonly string[]>,
): Error | undefined {
  const errors = new Map(found)
  for (const entry of entries) {
    if (entry.change.kind === 'clear') continue
    const messages = validateValue(entry.state.setting, entry.change.value, budget)
    if (messages.length > 0) errors.set(keyOf(entry), [...(errors.get(keyOf(entry)) ?? []), ...messages])
  }
  return toValidationException(errors)
}

function refuseStale(
  entries: readonly WriteEntry[],
  current: CurrentRows,
  { onStale, expects }: WriteSettings,
): void {
  if (expects && !expects(current.revision)) throw onStale([])
  const stale = entries.flatMap((entry) => {
    if (!entry.expects) return []
    const version = current.get(idOf(entry))?.revision ?? 0
    return entry.expects(version) ? [] : [{ key: keyOf(entry), scope: entry.scope, version }]
  })
  if (stale.length > 0) throw onStale(stale)
}

function decideEntry(entry: WriteEntry, id: RowId, current: CurrentRows, codec: RowCodec): Decision {
  const before = current.get(id)
  const { scope, userId, key } = id // named one by one: spreading costs more than the rest of a large bulk
  const value = entry.change.kind === 'set' ? entry.change.value : null
  if (value === null) return { before, change: before && { scope, userId, key, value, sealed: false } }
  const text = encodeValue(value)
  if (before && isNoChange(entry, before, text)) return { before, change: undefined }
  const stored = codec.store(entry.state.setting, id, text)
  return { before, change: { scope, userId, key, value: stored.value, sealed: stored.sealed } }
}

/** Writing an equal value is no change (decision 27), unless it is secret: who guesses must not see that it is equal. */
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

/** Who writes, and why: recorded in history and events. */
export interface WriteOptions {
  readonly actor?: string | null
  readonly origin?: string
  readonly requestId?: string | null
  readonly note?: string | null
}

/** 409 with the rows that changed since they were read (decision 24). */
export function toConflict(conflicts: readonly StaleRow[]): Error {
  return new ConflictException('Settings have changed since you read them. Read them again, then decide.', {
    conflicts,
  })
}

/** The same write; what it commits is counted where memory takes it. */
export function observeWrite(write: Write, observer: Pick<Observer, 'count'>): Write {
  return async function observedWrite(entries, options, settings) {
    let isStale = false
    const onStale: typeof settings.onStale = (stale) => {
      isStale = true
      return settings.onStale(stale)
    }
    try {
      return await write(entries, options, { ...settings, onStale })
    } catch (error) {
      observer.count(isStale ? 'conflicts' : isRefusal(error) ? 'refusals' : 'failures')
      throw error
    }
  }
}

/** Whether the writer could have known: the values break their definitions, or the host locked them. */
function isRefusal(error: unknown): boolean {
  return isDomainException(error) && error.statusCode < 500
}
