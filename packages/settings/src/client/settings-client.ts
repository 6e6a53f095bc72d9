/** What the settings client can do: one method for each route. */
import type { SettingToken } from '../definitions/tokens.ts'
import type { SettingDefinitionDto } from '../http/definition-dto.ts'
import type { BulkSettingUpdate, SettingValueDto } from '../service/contract.ts'
import type { HistoryEntry } from '../service/history.ts'
import type { SettingInspection } from '../service/read/inspect.ts'
import type { ImportReport, SettingsExport } from '../service/transfer.ts'
import type { JsonValue, SettingScope } from '../setting-definition.ts'
import type { CallOptions } from './request.ts'

/** Selects definitions; members are combined with AND. */
export interface DefinitionsFilter extends CallOptions {
  /** Each word occurs in key, display name, description, group or a tag, in any case. At most 100 characters. */
  readonly q?: string
  readonly tag?: string
}

/** Selects values. */
export interface ListFilter extends DefinitionsFilter {
  readonly scope?: SettingScope
  readonly group?: string
}

/** One of the caller's settings, with what holds if they have no value of their own. */
export interface MySettingDto extends SettingValueDto {
  readonly inheritedValue: JsonValue
}

/** Writes only if the row is still at this version; 0 is unset. A different one fails with status 412. */
export interface WriteCondition extends CallOptions {
  readonly version?: number
}

/** What a bulk write would do to one value. */
export interface BulkPreviewEntry {
  readonly key: string
  readonly scope: SettingScope
  readonly change: 'create' | 'update' | 'delete' | 'none'
  readonly oldValue: JsonValue
  readonly newValue: JsonValue
}

/** A page of history, newest first. */
export interface HistoryPage extends CallOptions {
  readonly scope?: SettingScope
  /** Only entries before this revision. */
  readonly before?: number
  /** 1–500. @default 50 */
  readonly limit?: number
}

/** What was written together. */
export interface SettingChangeSet {
  readonly revision: number
  readonly at: string
  readonly actor: string | null
  readonly entries: readonly HistoryEntry[]
}

export interface ImportMode extends CallOptions {
  /** @default 'merge' */
  readonly mode?: 'merge' | 'replace'
  readonly dryRun?: boolean
  /** The revision of the dry run; a different one fails with status 409. */
  readonly revision?: number
}

/** All methods reject with `SettingsRequestError`. */
export interface SettingsClient {
  list(filter?: ListFilter): Promise<SettingValueDto[]>
  definitions(filter?: DefinitionsFilter): Promise<SettingDefinitionDto[]>
  get(key: string, scope: SettingScope, options?: CallOptions): Promise<SettingValueDto>
  /** The value that holds for the caller. */
  resolved<T>(token: SettingToken<T>, options?: CallOptions): Promise<T>
  resolved(key: string, options?: CallOptions): Promise<JsonValue>
  set(
    key: string,
    value: JsonValue,
    scope: SettingScope,
    condition?: WriteCondition,
  ): Promise<SettingValueDto>
  /** All or nothing. */
  setMany(updates: readonly BulkSettingUpdate[], options?: CallOptions): Promise<SettingValueDto[]>
  /** What `setMany` would change; nothing is written. */
  preview(updates: readonly BulkSettingUpdate[], options?: CallOptions): Promise<BulkPreviewEntry[]>
  reset(key: string, scope: SettingScope, condition?: WriteCondition): Promise<SettingValueDto>
  mine(options?: CallOptions): Promise<MySettingDto[]>
  setMine(key: string, value: JsonValue, condition?: WriteCondition): Promise<SettingValueDto>
  resetMine(key: string, condition?: WriteCondition): Promise<SettingValueDto>
  publicValues(options?: CallOptions): Promise<Readonly<Record<string, JsonValue>>>
  inspect(key: string, options?: CallOptions): Promise<SettingInspection>
  history(key: string, page?: HistoryPage): Promise<HistoryEntry[]>
  changes(page?: Omit<HistoryPage, 'scope'>): Promise<SettingChangeSet[]>
  rollback(
    key: string,
    target: { readonly scope: SettingScope; readonly revision: number; readonly note?: string },
    options?: CallOptions,
  ): Promise<void>
  exportSettings(options?: CallOptions): Promise<SettingsExport>
  importSettings(
    file: Pick<SettingsExport, 'format' | 'settings'>,
    options?: ImportMode,
  ): Promise<ImportReport>
}
