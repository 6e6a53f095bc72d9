/** Restores and reverts: an old value is written again, checked like every write. */
import { type Caller, ConflictException, NotFoundException } from '@fastify-modular/core'
import { keyOf, type SettingReference } from '../definitions/tokens.ts'
import { requireSetting } from '../memory/shared-values.ts'
import type { Parts } from '../parts.ts'
import { toValueChange, type ValueChange } from '../reading/dto.ts'
import type { RowCodec } from '../secrets/row-codec.ts'
import type { JsonValue } from '../setting-definition.ts'
import type { HistoryRow } from '../store/store.ts'
import type { StoredWindow } from '../store/windows.ts'
import { isSecret, type RegisteredSetting } from '../values/validate.ts'
import { namedCaller, requireAdmin, requireUpdater, visibleTo } from '../visibility.ts'
import type { WindowHook } from '../write/windows.ts'
import { placeOf, type SetOptions } from '../write/set.ts'
import {
  type EntryOutcome,
  type Expects,
  isVersion,
  reset,
  type WriteControl,
  type WriteEntry,
  type WriteOptions,
  type WriteOutcome,
} from '../write/write.ts'
import { requireRevision } from './history.ts'

/** How a change set is taken back. */
export interface RevertOptions extends WriteOptions {
  /** Only these of its settings. @default all of them */
  readonly keys?: readonly string[]
  /** Also overwrites later changes, at these versions by key: those of `conflicts`; 0 is unset. @default none */
  readonly force?: Readonly<Record<string, number>>
  /** Decides everything and writes nothing. @default false */
  readonly dryRun?: boolean
  /** Only for a caller who may write all of it. @throws {ForbiddenException} */
  readonly as?: Caller
}

/** How one value changes; `newValue` is the one that is put back. */
interface RevertedValue extends ValueChange {
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

/**
 * Writes the value that a revision had written as a new revision.
 * @throws {NotFoundException} unknown setting, or the revision did not change it
 * @throws {ArgumentException} no value of the setting, or no revision
 * @throws {ConflictException} the old value was a secret, or cannot be decrypted any more, or the host locked the setting
 * @throws {PreconditionFailedException} the row is not at `version` any more
 */
export async function restore(
  { sharedValues, store, codec, write }: Parts,
  reference: SettingReference,
  revision: number,
  { version, ...options }: SetOptions = {},
  control: Pick<WriteControl, 'caller' | 'expects'> = { expects: isVersion(version) },
): Promise<WriteOutcome> {
  const key = keyOf(reference)
  const state = requireSetting(sharedValues, key)
  const id = { key, ...placeOf(state, options) }
  requireRevision(revision)
  const [past] = await store.history({ ...id, revision, limit: 1 })
  if (!past) throw new NotFoundException(`Revision of the setting "${key}"`, revision)
  const written = { value: past.newValue, encrypted: past.newEncrypted }
  const found = readValue(past, written, state.setting, codec)
  if (!found) throw new ConflictException(unreadable(key))
  const entry = { ...id, state, ...found, expects: control.expects }
  const { tenant } = options
  return write([entry], { origin: 'restore', ...options }, { caller: control.caller, tenant })
}

/**
 * Puts back every value that a revision replaced, all or nothing, as a new revision.
 * @throws {NotFoundException} no such revision, or an entry of it is trimmed or belongs to no setting
 * @throws {ConflictException} settings are locked, were secrets, or have changed since (`conflicts`, whose versions `force` takes)
 * @throws {PreconditionFailedException} `expects` refuses the revision of the store
 * @throws {SettingValidationException} an old value no longer fits, or cannot be decrypted
 */
export async function revert(
  parts: Parts,
  revision: number,
  revertOptions: RevertOptions = {},
  expects?: Expects,
): Promise<RevertReport> {
  const caller = namedCaller(revertOptions, 'as')
  const { keys, as: _caller, ...options } = revertOptions
  const definitionOf = (key: string) => parts.sharedValues.find(key)?.setting.definition
  // Whether or not there is an entry: which System setting changed when is for administrators.
  if (caller)
    requireUpdater(
      caller,
      keys?.map((key) => definitionOf(key)?.scope),
    )
  requireRevision(revision)
  // One write has made them together, so they may be in memory together.
  const rows = await parts.store.history({ revision, keys, limit: Number.MAX_SAFE_INTEGER })
  const visible = caller && visibleTo(caller)
  const seen = visible ? rows.filter((row) => visible.record(definitionOf(row.key), row)) : rows
  if (caller && !keys && seen.length > 0 && seen.length < rows.length) requireAdmin(caller)
  const setSize = keys ? new Set(keys).size : (rows[0]?.setSize ?? 1)
  if (seen.length < setSize || seen.length === 0 || !seen.every(({ key }) => definitionOf(key)))
    throw new NotFoundException('Change set', revision)
  const note = [`Reverts revision ${revision}.`, options.note ?? ''].join(' ').trim()
  return putBack(parts, rows, { origin: 'revert', ...options, note }, { caller, expects })
}

/** Writes what the rows replaced, if the values are as the rows left them. */
async function putBack(
  parts: Parts,
  rows: readonly HistoryRow[],
  { force = {}, dryRun = false, ...options }: Omit<RevertOptions, 'keys' | 'as'>,
  { caller, expects }: Pick<WriteControl, 'caller' | 'expects'>,
): Promise<RevertReport> {
  const past = await Promise.all(rows.map((row) => lookBack(parts, row)))
  const errors = new Map<string, readonly string[]>()
  const entries = rows.map((row) => entryOf(parts, row, errors, force))
  const window = dryRun ? undefined : await settledBy(parts, rows)
  const control = { caller, isBulk: true, errors, dryRun, expects, ...(window && { window }) }
  const outcome = await parts.write(entries, options, control)
  const values = outcome.entries.flatMap((each, index) => {
    const entry = past[index]
    return entry ? toReverted(each, entry, parts.codec) : []
  })
  return { revision: outcome.revision, dryRun, values }
}

/** The entry that puts back what a row replaced, if the value is as the row left it, or at the version that `force` names. */
export function entryOf(
  { sharedValues, codec }: Pick<Parts, 'sharedValues' | 'codec'>,
  row: HistoryRow,
  errors: Map<string, readonly string[]>,
  force: NonNullable<RevertOptions['force']> = {},
): WriteEntry {
  const { key, scope, owner, revision } = row
  const state = requireSetting(sharedValues, key)
  const old = readValue(row, { value: row.oldValue, encrypted: row.oldEncrypted }, state.setting, codec)
  if (!old) errors.set(key, [unreadable(key)])
  const forced = Object.hasOwn(force, key) ? force[key] : undefined
  const expects: WriteEntry['expects'] = (version, last) => last === revision || version === forced
  return { key, scope, owner, state, ...(old ?? reset), expects }
}

/** Whoever takes a whole change set back settles its window. */
async function settledBy({ store }: Parts, rows: readonly HistoryRow[]): Promise<WindowHook | undefined> {
  const { revision = 0, setSize } = rows[0] ?? {}
  const { windows } = await store.windows(revision)
  if (rows.length !== setSize || windows[0]?.state !== 'open') return undefined
  let open: StoredWindow | undefined
  return {
    check(current) {
      open = current.windows.find((window) => window.revision === revision)
    },
    save: () => open && { ...open, state: 'put-back' },
  }
}

/** Reads the history of an entry before the write: afterwards the database might not answer. */
async function lookBack({ sharedValues, store }: Parts, row: HistoryRow) {
  const { setting } = requireSetting(sharedValues, row.key)
  const { scope, key } = row
  const encrypted = row.oldEncrypted || row.newEncrypted
  const comesBack = row.oldValue !== null && isSecret(setting, { encrypted })
  const [stored] = comesBack ? await store.history({ scope, key, following: row, limit: 1 }) : []
  return { row, storedAt: stored ? new Date(stored.at).toISOString() : null }
}

type PastEntry = Awaited<ReturnType<typeof lookBack>>

function toReverted(outcome: EntryOutcome, { row, storedAt }: PastEntry, codec: RowCodec): RevertedValue {
  const { entry, before } = outcome
  const secret = isSecret(entry.state.setting, before) || row.oldEncrypted
  const masked = secret ? { oldValue: null, newValue: null } : {}
  return { ...toValueChange(outcome, codec), ...masked, isSecret: secret, storedAt }
}

/** What writes a value of an entry again; undefined where it cannot be decrypted any more. */
function readValue(
  row: HistoryRow,
  { value, encrypted }: { readonly value: string | null; readonly encrypted: boolean },
  setting: RegisteredSetting,
  codec: RowCodec,
): Pick<WriteEntry, 'value' | 'isReset' | 'wasSecret'> | undefined {
  if (value === null) return reset
  if (encrypted && !setting.definition.sensitive) return { value: null, wasSecret: true }
  try {
    return { value: JSON.parse(codec.textOf(row, { value, encrypted })) as JsonValue } // canonical JSON
  } catch {
    return undefined
  }
}

function unreadable(key: string): string {
  return `The old value of the setting "${key}" cannot be read any more, so it cannot be restored.`
}
