/** System and Application values as a file: in a stable order for version control, without secrets. */
import { ArgumentException } from '@fastify-modular/core'
import { type JsonValue, SettingScope } from '../setting-definition.ts'
import type { WriteOptions } from './contract.ts'
import { toConflict } from './contract-operations.ts'
import type { Cell, Snapshot } from './read/snapshot.ts'
import type { Write, WriteEntry } from './write/write.ts'

/** One stored value of a file. */
export interface ExportedSetting {
  readonly key: string
  readonly scope: typeof SettingScope.System | typeof SettingScope.Application
  readonly value: JsonValue
}

/** Everything that is stored for System and Application. Equal settings make equal files. */
export interface SettingsExport {
  readonly format: 1
  /** Sorted by key, then scope. */
  readonly settings: readonly ExportedSetting[]
  /** Keys of sensitive settings that have a stored value, which is not in the file. */
  readonly omitted: readonly string[]
}

/** What an import does, or would do: keys, sorted. */
export interface ImportReport {
  readonly revision: number
  readonly create: readonly string[]
  readonly update: readonly string[]
  readonly delete: readonly string[]
  readonly unchanged: readonly string[]
  /** Keys of the file that no module defines: left out. */
  readonly unknown: readonly string[]
  readonly dryRun: boolean
}

export interface ImportOptions extends WriteOptions {
  /** `replace` also removes stored values that the file has not; secrets stay. @default 'merge' */
  readonly mode?: 'merge' | 'replace'
  /** @default false */
  readonly dryRun?: boolean
  /** Writes only if the store is still at this revision, that of a dry run. */
  readonly revision?: number
  /** Which scopes `replace` may remove values of; by default all. */
  readonly included?: ScopeFilter
}

/** Selects scopes. */
export type ScopeFilter = (scope: ExportedSetting['scope']) => boolean

export interface Transfer {
  exportSettings(included?: ScopeFilter): SettingsExport
  /**
   * All or nothing.
   * @throws {SettingValidationException} values that break their definitions, by key
   * @throws {ConflictException} the store is not at `revision` any more, or a setting is locked
   * @throws {ArgumentException} one setting twice, or in a scope it does not have
   */
  importSettings(file: Pick<SettingsExport, 'settings'>, options?: ImportOptions): Promise<ImportReport>
}

const shared = [SettingScope.System, SettingScope.Application] as const

export function createTransfer(snapshot: Snapshot, cells: () => readonly Cell[], write: Write): Transfer {
  /** Definitions with a stored value, sorted by key and scope. */
  function stored(): { readonly cell: Cell; readonly scope: ExportedSetting['scope'] }[] {
    return [...cells()]
      .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
      .flatMap((cell) => shared.filter((scope) => layerOf(cell, scope)).map((scope) => ({ cell, scope })))
  }

  return {
    exportSettings(included = () => true) {
      const settings: ExportedSetting[] = []
      const omitted = new Set<string>()
      for (const { cell, scope } of stored()) {
        const layer = layerOf(cell, scope)
        if (!included(scope) || layer?.state === 'invalid') continue
        if (cell.setting.definition.sensitive || layer?.row.sealed) omitted.add(keyOf(cell))
        else if (layer?.state === 'valid') settings.push({ key: keyOf(cell), scope, value: layer.value })
      }
      return { format: 1, settings, omitted: [...omitted] }
    },
    async importSettings(
      file,
      { mode = 'merge', dryRun = false, revision, included = () => true, ...options } = {},
    ) {
      const { entries, unknown } = toEntries(file.settings, snapshot)
      const named = new Set(entries.map(nameOf))
      const surplus =
        mode === 'merge'
          ? []
          : stored().filter((row) => included(row.scope) && !isKept(row.cell) && !named.has(nameOf(row)))
      const removals = surplus.map(({ cell, scope }) => ({
        cell,
        scope,
        userId: '',
        change: { kind: 'clear' } as const,
      }))
      const all = [...entries, ...removals]
      const outcome = await write(
        all,
        { origin: 'import', ...options },
        {
          dryRun,
          onStale: toConflict,
          expects: revision === undefined ? undefined : (current) => current === revision,
        },
      )
      const report = {
        create: new Set<string>(),
        update: new Set<string>(),
        delete: new Set<string>(),
        unchanged: new Set<string>(),
      }
      for (const [index, { before, change }] of outcome.entries.entries()) {
        const entry = all[index]
        if (entry)
          report[!change ? 'unchanged' : change.value === null ? 'delete' : before ? 'update' : 'create'].add(
            keyOf(entry.cell),
          )
      }
      return {
        revision: outcome.revision,
        create: [...report.create].toSorted(),
        update: [...report.update].toSorted(),
        delete: [...report.delete].toSorted(),
        unchanged: [...report.unchanged].toSorted(),
        unknown,
        dryRun,
      }
    },
  }
}

function toEntries(settings: readonly ExportedSetting[], snapshot: Snapshot) {
  const seen = new Set<string>()
  const unknown = new Set<string>()
  const entries: WriteEntry[] = []
  for (const { key, scope, value } of settings) {
    const cell = snapshot.find(key)
    if (!cell) {
      unknown.add(key)
      continue
    }
    if (!shared.includes(scope))
      throw new ArgumentException(`"${key}": only System and Application values are imported.`, 'scope')
    if (seen.size === seen.add(`${scope} ${key}`).size)
      throw new ArgumentException(`"${key}" is in the file twice.`, 'key')
    entries.push({ cell, scope, userId: '', change: { kind: 'set', value } })
  }
  return { entries, unknown: [...unknown].toSorted() }
}

/** A file has no secrets, so that it cannot say that one shall go; and what is locked cannot be written. */
function isKept({ setting, locked }: Cell): boolean {
  return setting.definition.sensitive || locked !== undefined
}

function layerOf(cell: Cell, scope: ExportedSetting['scope']) {
  return scope === SettingScope.System ? cell.system : cell.application
}

function keyOf({ setting }: Cell): string {
  return setting.definition.key
}

function nameOf({ cell, scope }: { readonly cell: Cell; readonly scope: SettingScope }): string {
  return `${scope} ${keyOf(cell)}`
}
