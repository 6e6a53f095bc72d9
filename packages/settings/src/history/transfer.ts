/** System and Application values as a file: in a stable order for version control, without secrets. */
import { ArgumentException, type Caller } from '@fastify-modular/core'
import { type SettingState, sharedScope } from '../memory/shared-values.ts'
import type { Parts } from '../parts.ts'
import type { JsonValue, SettingScope } from '../setting-definition.ts'
import { toBulkEntries } from '../write/bulk.ts'
import { compareText } from '../store/plan-write.ts'
import { isSecret } from '../values/validate.ts'
import { namedCaller, requireUpdater, visibleTo } from '../visibility.ts'
import {
  type ChangeKind,
  type Expects,
  isVersion,
  reset,
  type WriteOptions,
  type WriteOutcome,
} from '../write/write.ts'

/** One stored value of a file. */
interface ExportedSetting {
  readonly key: string
  /** System or Application. */
  readonly scope: SettingScope
  readonly value: JsonValue
}

/** Everything that is stored for System and Application. Equal settings make equal files. */
export interface SettingsExport {
  readonly format: 1
  /** Sorted by key. */
  readonly settings: readonly ExportedSetting[]
  /** Keys whose stored values are not in the file: secrets, and values that do not fit their definition here. */
  readonly omitted: readonly string[]
}

/** What an import does, or would do: keys, sorted. */
export interface ImportReport {
  readonly revision: number
  readonly create: readonly string[]
  readonly update: readonly string[]
  readonly delete: readonly string[]
  readonly unchanged: readonly string[]
  /** Keys of the file that no module defines: not imported. */
  readonly unknown: readonly string[]
  /** Keys whose stored values `replace` keeps, because no file could have them: secrets, misfits, locked values. */
  readonly kept: readonly string[]
  readonly dryRun: boolean
}

export interface ImportOptions extends WriteOptions {
  /**
   * `replace` also removes stored values that the file lacks, except those that an export omits.
   * @default 'merge'
   */
  readonly mode?: 'merge' | 'replace'
  /** @default false */
  readonly dryRun?: boolean
  /** Writes only if the store is still at this revision, that of a dry run. @throws {PreconditionFailedException} */
  readonly revision?: number
  /**
   * Imports for this caller, who needs to be an administrator if the file has System settings. What an export for the
   * caller would not name is left alone: `replace` does not remove it.
   * @throws {ForbiddenException} the caller may not change settings, or not these
   */
  readonly as?: Caller
}

export interface ExportOptions {
  /**
   * Only what this caller may see over HTTP: no System settings unless an administrator. Without it everything.
   * @throws {ForbiddenException} the caller may not change settings
   */
  readonly visibleTo?: Caller
}

const importModes: readonly unknown[] = ['merge', 'replace']

export function exportSettings(parts: Parts, options: ExportOptions = {}): SettingsExport {
  const settings: ExportedSetting[] = []
  const omitted: string[] = []
  for (const state of storedSettings(parts, namedCaller(options, 'visibleTo'))) {
    const { key } = state.setting.definition
    const value = exportableValue(state)
    if (value === undefined) omitted.push(key)
    else settings.push({ key, scope: sharedScope(state), value })
  }
  return { format: 1, settings, omitted }
}

/**
 * All or nothing.
 * @throws {SettingValidationException} values that break their definitions, by key
 * @throws {ConflictException} a setting is locked
 * @throws {ArgumentException} one setting twice, or in a scope it does not have
 * @throws {PreconditionFailedException} the store is not at `revision` any more, or `expects` refuses its revision
 */
export async function importSettings(
  parts: Parts,
  { settings }: Pick<SettingsExport, 'settings'>,
  importOptions: ImportOptions = {},
  expects?: Expects,
): Promise<Pick<WriteOutcome, 'window'> & { readonly report: ImportReport }> {
  const caller = namedCaller(importOptions, 'as')
  const scopes = settings.map(({ scope }) => scope)
  if (caller) requireUpdater(caller, scopes)
  const { mode = 'merge', dryRun = false, revision, as: _caller, ...options } = importOptions
  if (!importModes.includes(mode)) throw new ArgumentException('Use "merge" or "replace".', 'mode')
  // Values to remove may have been stored by another process.
  if (mode === 'replace') await parts.coherence.catchUp()
  const { entries, unknown } = toBulkEntries(parts.sharedValues, settings)
  const named = new Set(entries.map(({ state }) => state))
  const surplus = mode === 'merge' ? [] : storedSettings(parts, caller).filter((state) => !named.has(state))
  const removals = surplus
    .filter((state) => !isKept(state))
    .map((state) => {
      const { key } = state.setting.definition
      return { state, key, scope: sharedScope(state), owner: '', ...reset }
    })
  const outcome = await parts.write(
    [...entries, ...removals],
    { origin: 'import', ...options },
    { caller, isBulk: true, dryRun, expects: expects ?? isVersion(revision) },
  )
  const keysOf = (kind: ChangeKind): readonly string[] =>
    outcome.entries.flatMap((each) => (each.kind === kind ? each.entry.key : [])).toSorted()
  const report = {
    revision: outcome.revision,
    create: keysOf('create'),
    update: keysOf('update'),
    delete: keysOf('delete'),
    unchanged: keysOf('none'),
    unknown: unknown.toSorted(),
    kept: surplus.filter(isKept).map(({ setting }) => setting.definition.key),
    dryRun,
  }
  return { report, window: outcome.window }
}

/** Settings with a stored value that the caller may see, sorted by key. */
function storedSettings({ states }: Parts, caller: Caller | undefined): readonly SettingState[] {
  if (caller) requireUpdater(caller)
  const visible = caller && visibleTo(caller)
  return states()
    .filter((state) => state.stored && visible?.record(state.setting.definition) !== false)
    .toSorted((a, b) => compareText(a.setting.definition.key, b.setting.definition.key))
}

/** The stored value; undefined for secrets, and for values that do not fit the definition. */
function exportableValue(state: SettingState): JsonValue | undefined {
  const { setting, stored } = state
  return stored?.state === 'valid' && !isSecret(setting, stored.row) ? stored.value : undefined
}

/**
 * Values that an export omits are not removed because a file lacks them: instances of another version may use what does
 * not fit here. Locked settings cannot be written.
 */
function isKept(state: SettingState): boolean {
  return state.locked !== undefined || exportableValue(state) === undefined
}
