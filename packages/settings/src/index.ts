/** @fastify-modular/settings: settings that modules declare, typed, validated, stored, scoped and masked (S 2–4). */
import type { SettingsBuilder } from './definitions/builder.ts'
import type { UserReader } from './service/read/reader.ts'
import type { Settings } from './service/settings.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Settings in process: synchronous reads, and the contract of the specification (S 4.2). */
    readonly settings: Settings
  }
  interface FastifyRequest {
    /** The caller's settings: `(await request.settings).get(mail.theme)`. */
    readonly settings: Promise<UserReader>
  }
}

declare module '@fastify-modular/core' {
  interface ModuleHooks {
    /** Declares the settings of a module. */
    settings: (builder: SettingsBuilder) => void
  }
}

export { SettingsBuilder, type TokenMap } from './definitions/builder.ts'
export type { RuleTokens, RuleValues } from './definitions/rules.ts'
export {
  type DynamicKey,
  setting,
  type SettingKeyMap,
  type SettingKeys,
  type SettingToken,
  type SettingValue,
  type TokenOptions,
} from './definitions/tokens.ts'
export type { FindCaller } from './http/access.ts'
export type { Translate, TranslatedField } from './http/localize/translate.ts'
export type { OwnWrites } from './http/handlers/my-handlers.ts'
export type { SensitiveResolved } from './http/handlers/read-handlers.ts'
export type { HistoryRetentionOptions, SettingsLimits, SettingsOptions } from './options.ts'
export { settings, settings as default } from './plugin.ts'
export { SettingChanged, SettingDeleted } from './service/events/change-events.ts'
export type {
  BulkSettingUpdate,
  SettingDefinitions,
  SettingsContract,
  SettingsFilter,
  SettingSource,
  SettingValueDto,
  WriteOptions,
} from './service/contract.ts'
export {
  InvalidScopeException,
  PreconditionFailedException,
  SettingLockedException,
} from './service/exceptions.ts'
export type { HistoryEntry, HistoryFilter, HistoryPage, RollbackTarget } from './service/history.ts'
export type { SettingChange, SettingListener } from './service/events/listeners.ts'
export type {
  InvalidSettingDiagnostic,
  SettingChangeDiagnostic,
  SettingsRefreshDiagnostic,
  SettingsStats,
} from './service/events/observer.ts'
export type { SettingsStatus } from './service/read/coherence.ts'
export type { InspectedLayer, SettingInspection } from './service/read/inspect.ts'
export type { SettingsReader, UserReader } from './service/read/reader.ts'
export type { OrphanedSetting, Settings } from './service/settings.ts'
export type { ExportedSetting, ImportOptions, ImportReport, SettingsExport } from './service/transfer.ts'
export type { LockedBy, Overrides } from './service/write/locked.ts'
export type { RewrapReport } from './service/write/rewrap.ts'
export type { SealingKey } from './service/write/sealing.ts'
export {
  type CompleteDefinition,
  type JsonValue,
  type RuleResult,
  type SettingDefinition,
  type SettingHints,
  type SettingOption,
  SettingScope,
  SettingType,
  type ShowWhen,
} from './setting-definition.ts'
export { memoryStore } from './store/memory.ts'
export type {
  AppliedChange,
  CurrentRows,
  HistoryId,
  HistoryQuery,
  HistoryRetention,
  HistoryRow,
  RowChange,
  RowId,
  SettingsStore,
  StoreContext,
  StoredRow,
  WriteRequest,
  WriteResult,
} from './store/store.ts'
export { valueSchema, type ValueSchema } from './values/value-schema.ts'
