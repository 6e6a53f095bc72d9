/** What the settings client can do: one method for each route. */
import type { SettingToken } from '../definitions/tokens.ts'
import type { SettingDefinitionDto } from '../http/definition-dto.ts'
import type { BulkSettingUpdate, SettingValueDto } from '../service/contract.ts'
import type { HistoryEntry, HistoryPage } from '../service/history.ts'
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

/** Which page of history, newest first. */
export interface HistoryPageOptions extends CallOptions {
  readonly scope?: SettingScope
  /** Only entries before this revision, or behind the `next` of a page. */
  readonly before?: number | string
  /** 1–500. @default 50 */
  readonly limit?: number
}

/** An entry of a page. `historyEntry` has the long values whole. */
export interface ListedHistoryEntry extends HistoryEntry {
  /** Values of more than 4 KiB of JSON, which are a `LongValue` here. */
  readonly long: readonly ('oldValue' | 'newValue')[]
}

/** What stands for a long value: bytes of its JSON text, and a digest that equal values have in common. */
export interface LongValue {
  readonly length: number
  readonly digest: string
}

/** What was written together; a page may show a part of it. */
export interface SettingChangeSet {
  readonly revision: number
  readonly at: string
  readonly actor: string | null
  readonly entries: readonly ListedHistoryEntry[]
}

/** Some change sets, newest first; `next` is for the option `before`, null at the end. */
export interface ChangesPage {
  readonly changes: readonly SettingChangeSet[]
  readonly next: string | null
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
  history(key: string, page?: HistoryPageOptions): Promise<HistoryPage<ListedHistoryEntry>>
  /** What one revision did to a setting, with its values whole. */
  historyEntry(
    key: string,
    revision: number,
    options?: Pick<HistoryPageOptions, 'scope' | 'signal'>,
  ): Promise<HistoryEntry>
  changes(page?: Omit<HistoryPageOptions, 'scope'>): Promise<ChangesPage>
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
