/** The way back: what a revision replaced, or wrote, is written once more, checked like every write. */
import { type Caller, ConflictException, NotFoundException } from '@fastify-modular/core'
import { requireFit, requireSetting, type SharedValues } from '../memory/shared-values.ts'
import type { RowCodec } from '../secrets/row-codec.ts'
import type { JsonValue, SettingScope } from '../setting-definition.ts'
import type { HistoryRow, SettingsStore } from '../store/store.ts'
import { isSecret } from '../values/validate.ts'
import { namedCaller, requireUpdater } from '../visibility.ts'
import { placeOf, type ValuePlace } from '../write/set.ts'
import {
  changeKind,
  type ChangeKind,
  type EntryOutcome,
  type Expects,
  toConflict,
  toPreconditionFailed,
  type Write,
  type WriteEntry,
  type WriteOptions,
  type WriteOutcome,
} from '../write/write.ts'
import { requireRevision } from './history.ts'

/** The setting to restore, and the revision whose value is wanted. */
export interface RestoreTarget extends ValuePlace {
  readonly key: string
  readonly revision: number
  /** Restores what the revision replaced, in place of what it wrote. @default false */
  readonly undo?: boolean
}

/** How one value is restored. */
export interface RestoreOptions extends WriteOptions {
  /** Restores only if the row is still at this version; 0 is unset. @throws {PreconditionFailedException} */
  readonly version?: number
}

/** How a change set is taken back. */
export interface RevertOptions extends WriteOptions {
  /** Only these of its settings. @default all of them */
  readonly keys?: readonly string[]
  /**
   * Also puts back what was changed since: `true` whatever it is now, versions by key (those of `conflicts`; 0 is unset) only
   * what was seen.
   * @default false
   */
  readonly force?: boolean | Readonly<Record<string, number>>
  /** Decides everything and writes nothing. @default false */
  readonly dryRun?: boolean
  /** Only for a caller who may write all of it. @throws {ForbiddenException} */
  readonly visibleTo?: Caller
}

/** What became of one value, or would become; secrets as null. */
export interface RevertedValue {
  readonly key: string
  readonly scope: SettingScope
  readonly change: ChangeKind
  /** What is there now. */
  readonly oldValue: JsonValue
  /** What comes back. */
  readonly newValue: JsonValue
  readonly isSecret: boolean
  /** When a secret that comes back was stored, ISO 8601; null for other values, and where the history has lost it. */
  readonly storedAt: string | null
}

/** What `revert` did, or would do. */
export interface RevertReport {
  /** The store's revision after it. */
  readonly revision: number
  readonly dryRun: boolean
  /** In the order of scope and key. */
  readonly values: readonly RevertedValue[]
}

interface RevertsInit {
  readonly store: Pick<SettingsStore, 'history' | 'shared'>
  readonly sharedValues: SharedValues
  readonly codec: RowCodec
  readonly write: Write
}

/** An entry to write, with the entry of history that it takes back. */
interface Undone {
  readonly row: HistoryRow
  readonly storedAt: string | null
  readonly entry: WriteEntry
}

/** Writes old values once more. */
export class Reverts {
  readonly #init: RevertsInit

  constructor(init: RevertsInit) {
    this.#init = init
  }

  /**
   * Writes the value that a revision had written, or the one that it replaced, as a new revision.
   * @throws {NotFoundException} unknown setting, or the revision did not change it
   * @throws {ArgumentException} the target is not a value of the setting at a revision
   * @throws {ConflictException} the old value cannot be decrypted any more, or the host locked the setting
   * @throws {PreconditionFailedException} the row is not at `version` any more
   */
  async restore(
    { key, revision, undo = false, ...place }: RestoreTarget,
    { version, ...options }: RestoreOptions = {},
    expects: Expects | undefined = isVersion(version),
  ): Promise<WriteOutcome> {
    const state = requireSetting(this.#init.sharedValues, key)
    const id = { key, ...placeOf(state, place) }
    requireRevision(revision)
    const [past] = await this.#init.store.history({ ...id, revision, limit: 1 })
    if (!past) throw new NotFoundException(`Revision of the setting "${key}"`, revision)
    const text = undo ? oldTextOf(past) : { value: past.newValue, encrypted: past.newEncrypted }
    const change = toChange(past, text, this.#init.codec)
    if (!change) throw new ConflictException(unreadable(key))
    return this.#init.write(
      [{ ...id, state, change, expects }],
      { origin: 'restore', ...options },
      { onStale: toPreconditionFailed },
    )
  }

  /**
   * Puts back every value that a revision replaced, all or nothing, as a new revision.
   * @throws {NotFoundException} no such revision, or an entry of it is trimmed or belongs to no setting
   * @throws {ConflictException} settings are locked, or have changed since (`conflicts`; not with `force`)
   * @throws {PreconditionFailedException} `expects` refuses the revision of the store
   * @throws {SettingValidationException} an old value no longer fits, or cannot be decrypted
   */
  async revert(
    revision: number,
    revertOptions: RevertOptions = {},
    expects?: Expects,
  ): Promise<RevertReport> {
    const caller = namedCaller(revertOptions)
    const { keys, visibleTo: _caller, ...options } = revertOptions
    if (caller) requireUpdater(caller)
    const rows = await this.#rowsOf(revision, keys)
    const scopes = rows.flatMap(({ key, scope }) => [
      scope,
      this.#init.sharedValues.find(key)?.setting.definition.scope,
    ])
    if (caller) requireUpdater(caller, scopes)
    this.#requireWhole(revision, rows, keys)
    const note = [`Reverts revision ${revision}.`, options.note ?? ''].join(' ').trim()
    return this.#putBack(rows, { origin: 'revert', ...options, note }, expects)
  }

  /** Writes what the rows replaced, if the values are as the rows left them. */
  async #putBack(
    rows: readonly HistoryRow[],
    { force = false, dryRun = false, ...options }: Omit<RevertOptions, 'keys' | 'visibleTo'>,
    expects: Expects | undefined,
    left = attempts,
  ): Promise<RevertReport> {
    // What is written from here on is not in what the history says.
    const { revision: seen } = await this.#init.store.shared.read([])
    const looksBack = force !== true && rows.some(({ newValue }) => newValue === null)
    let isOvertaken = false
    const errors = new Map<string, readonly string[]>()
    const past = await Promise.all(rows.map((row) => this.#lookBack(row)))
    const undone = past.map(({ row, storedAt, isLast }): Undone => {
      const state = requireFit(requireSetting(this.#init.sharedValues, row.key), row.scope)
      const change = toChange(row, oldTextOf(row), this.#init.codec)
      if (!change) errors.set(row.key, [unreadable(row.key)])
      const isExpected: Expects = (version) =>
        (isLast && version === versionAfter(row)) || version === versionOf(force, row.key)
      const entry = { ...idOf(row), state, change: change ?? ({ kind: 'clear' } as const) }
      return { row, storedAt, entry: { ...entry, expects: force === true ? undefined : isExpected } }
    })
    const isCurrent: Expects = (now) => {
      if (expects && !expects(now)) throw toPreconditionFailed([])
      isOvertaken = looksBack && now !== seen
      return !isOvertaken
    }
    try {
      const outcome = await this.#init.write(
        undone.map(({ entry }) => entry),
        options,
        { onStale: toConflict, errors, dryRun, expects: looksBack || expects ? isCurrent : undefined },
      )
      const values = undone.map((each, index) => this.#toReverted(each, outcome.entries[index]))
      return { revision: outcome.revision, dryRun, values }
    } catch (error) {
      // Something was written meanwhile: only another look at the history says whether it was one of these values.
      if (!isOvertaken || left === 1) throw error
      return this.#putBack(rows, { force, dryRun, ...options }, expects, left - 1)
    }
  }

  /** The entries of a change set, in the order of their rows. */
  async #rowsOf(revision: number, keys: readonly string[] | undefined): Promise<readonly HistoryRow[]> {
    requireRevision(revision)
    const selection = { revision, ...(keys && { keys }) }
    const rows: HistoryRow[] = []
    for (let size = portion; size === portion;) {
      const last = rows.at(-1)
      const page = await this.#init.store.history({
        ...selection,
        ...(last && { following: last }),
        limit: portion,
      })
      rows.push(...page)
      size = page.length
    }
    return rows
  }

  /** Everything that the history says about an entry: it may not answer any more once the write is done. */
  async #lookBack(row: HistoryRow) {
    const { setting } = requireSetting(this.#init.sharedValues, row.key)
    const encrypted = row.oldEncrypted || row.newEncrypted
    const comesBack = row.oldValue !== null && isSecret(setting, { encrypted })
    const [stored] = comesBack
      ? await this.#init.store.history({ ...idOf(row), before: row.revision, limit: 1 })
      : []
    // A row that is not there has no version: only the history knows whether it was written since.
    const [last] = row.newValue === null ? await this.#init.store.history({ ...idOf(row), limit: 1 }) : [row]
    const storedAt = stored ? new Date(stored.at).toISOString() : null
    return { row, storedAt, isLast: last?.revision === row.revision }
  }

  #requireWhole(revision: number, rows: readonly HistoryRow[], keys: readonly string[] | undefined): void {
    const expected = keys ? new Set(keys).size : rows[0]?.setSize
    const isWhole = rows.length > 0 && rows.length >= (expected ?? 0)
    if (!isWhole || rows.some(({ key }) => !this.#init.sharedValues.find(key)))
      throw new NotFoundException('Change set', revision)
  }

  #toReverted({ row, storedAt, entry }: Undone, outcome: EntryOutcome | undefined): RevertedValue {
    const { setting } = entry.state
    const before = outcome?.before
    const layer = before && this.#init.codec.layerOf(setting, before)
    const secret = isSecret(setting, before) || row.oldEncrypted
    const newValue = entry.change.kind === 'set' ? entry.change.value : null
    return {
      key: row.key,
      scope: row.scope,
      change: changeKind(outcome ?? {}),
      oldValue: secret || layer?.state !== 'valid' ? null : layer.value,
      newValue: secret ? null : newValue,
      isSecret: secret,
      storedAt,
    }
  }
}

/** Entries that are read at once. */
const portion = 500

/** How often the history is looked at where others write meanwhile. */
const attempts = 3

function idOf({ scope, userId, key }: HistoryRow) {
  return { scope, userId, key }
}

function isVersion(version: number | undefined): Expects | undefined {
  return version === undefined ? undefined : (found) => found === version
}

/** The version of a row that nobody has written since. */
function versionAfter({ newValue, revision }: HistoryRow): number {
  return newValue === null ? 0 : revision
}

/** The version that a caller has seen and wants to be replaced. */
function versionOf(force: RevertOptions['force'], key: string): number | undefined {
  return typeof force === 'object' && Object.hasOwn(force, key) ? force[key] : undefined
}

/** A value of an entry as it is stored; null where there was none. */
interface EntryText {
  readonly value: string | null
  readonly encrypted: boolean
}

function oldTextOf({ oldValue, oldEncrypted }: HistoryRow): EntryText {
  return { value: oldValue, encrypted: oldEncrypted }
}

/** Undefined where the value cannot be decrypted any more. */
function toChange(
  entry: HistoryRow,
  { value, encrypted }: EntryText,
  codec: RowCodec,
): WriteEntry['change'] | undefined {
  if (value === null) return { kind: 'clear' }
  try {
    return { kind: 'set', value: JSON.parse(codec.textOf(entry, { value, encrypted })) as JsonValue } // canonical JSON
  } catch {
    return undefined
  }
}

function unreadable(key: string): string {
  return `The old value of the setting "${key}" cannot be read any more, so it cannot be restored.`
}
