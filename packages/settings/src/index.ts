/** @fastify-modular/settings: settings that modules declare, typed, validated, stored, scoped and masked (S 2–4). */
import type { SettingsBuilder, TokenMap } from './definitions/builder.ts'
import type { UserReader } from './reading/reader.ts'
import type { Settings } from './settings.ts'

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
  interface ModuleContributions {
    /** The settings that a module defines, `{ greeting, limit }`; a function gets a builder, which takes rules as well. */
    settings: TokenMap | ((builder: SettingsBuilder) => void)
  }
}

export { SettingsBuilder, type TokenMap } from './definitions/builder.ts'
export type { RuleTokens, RuleValues } from './definitions/builder.ts'
export {
  type DynamicKey,
  setting,
  type SettingKeyMap,
  type SettingKeys,
  type SettingToken,
  type SettingValue,
  type TokenOptions,
} from './definitions/tokens.ts'
export type { FindCaller, FindPeople, ResolvedSecrets, Translate, TranslatedField } from './http-options.ts'
export type { HistoryRetentionOptions, SettingsLimits, SettingsOptions } from './options.ts'
export { settings, settings as default } from './plugin.ts'
export { SettingChanged, SettingDeleted } from './events.ts'
export type { SettingDefinitions, SettingsContract } from './contract.ts'
export type { SetOptions, ValuePlace } from './write/set.ts'
export type { WriteOptions } from './write/write.ts'
export type { BulkSettingUpdate } from './write/write.ts'
export type { SettingsFilter } from './reading/list.ts'
export type { SettingValueDto } from './reading/dto.ts'
export type { SettingSource } from './memory/shared-values.ts'
export {
  InvalidScopeException,
  PreconditionFailedException,
  SettingLockedException,
  SettingValidationException,
} from './exceptions.ts'
export type { ErasureReport } from './history/erase.ts'
export type { HistoryEntry, HistoryFilter, HistoryPage } from './history/history.ts'
export type {
  RestoreOptions,
  RestoreTarget,
  RevertedValue,
  RevertOptions,
  RevertReport,
} from './history/revert.ts'
export type { SettingChange, SettingListener } from './events.ts'
export type {
  InvalidSettingDiagnostic,
  SettingChangeDiagnostic,
  SettingsRefreshDiagnostic,
  SettingsStats,
} from './diagnostics.ts'
export type { SettingsStatus } from './memory/coherence.ts'
export type { InspectedLayer, OrphanedSetting, SettingInspection } from './reading/inspect.ts'
export type { SettingsReader, UserReader } from './reading/reader.ts'
export { type Visibility, visibleTo } from './visibility.ts'
export type { Settings } from './settings.ts'
export type {
  ExportedSetting,
  ExportOptions,
  ImportOptions,
  ImportReport,
  SettingsExport,
} from './history/transfer.ts'
export type { LockedBy, Overrides } from './overrides.ts'
export type { ReencryptReport } from './secrets/reencrypt.ts'
export type { EncryptionKey } from './secrets/sealing.ts'
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
  type ValueSchema,
} from './setting-definition.ts'
export { memoryStore } from './store/memory.ts'
export { valueSchema } from './values/value-schema.ts'
