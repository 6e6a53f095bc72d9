/** @fastify-modular/settings: settings that modules declare, typed, validated, stored, scoped and masked. */
import type { SettingsBuilder } from './definitions/builder.ts'
import type { SettingMap } from './definitions/tokens.ts'
import type { SettingGroups } from './groups.ts'
import type { UserReader } from './reading/reader.ts'
import type { Settings } from './settings.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Settings in process: synchronous reads, and the contract of the specification. */
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
    settings: SettingMap | ((builder: SettingsBuilder) => void)
    /** What pages show of groups, by their name. */
    settingGroups: SettingGroups
  }
}

export type { SettingsBuilder } from './definitions/builder.ts'
export {
  setting,
  type SettingKeyMap,
  type SettingMap,
  type SettingToken,
  type SettingValue,
  type ValuesOf,
} from './definitions/tokens.ts'
export {
  type CompleteDefinition,
  type JsonValue,
  type RuleResult,
  type SettingDefinition,
  SettingScope,
  SettingType,
} from './setting-definition.ts'
export { printEnvironment, readEnvironment } from './environment.ts'
export type { DefinitionTexts, FindCaller, FindPeople, SettingsOptions, Translate } from './options.ts'
export type { SettingGroup, SettingGroups, TranslateGroup } from './groups.ts'
export { settings, settings as default } from './plugin.ts'
export { SettingChanged, SettingChangeSettled, SettingDeleted, type SettingListener } from './events.ts'
export type { SettingsContract } from './contract.ts'
export type { SettingDefinitions } from './definitions/registry.ts'
export type { SetManyOptions, SetOptions } from './write/set.ts'
export type { BulkSettingUpdate } from './write/bulk.ts'
export type { WriteOptions } from './write/write.ts'
export type { SettingsFilter } from './reading/list.ts'
export type { SettingValueDto } from './reading/dto.ts'
export {
  PreconditionFailedException,
  SettingLockedException,
  SettingsChangedException,
  SettingValidationException,
} from './exceptions.ts'
export type { CopyOptions, CopyReport } from './history/copy.ts'
export type { ForgetReport } from './history/forget.ts'
export type { ErasureReport } from './history/erase.ts'
export type { HistoryEntry, HistoryFilter, HistoryPage } from './history/history.ts'
export type { RevertOptions, RevertReport } from './history/revert.ts'
export type { ExportOptions, ImportOptions, ImportReport, SettingsExport } from './history/transfer.ts'
export type { SettingsDiagnostic, SettingsStats } from './diagnostics.ts'
export type { SettingSource } from './memory/shared-values.ts'
export type { SettingsStatus } from './memory/coherence.ts'
export type { SettingInspection } from './reading/inspect.ts'
export type { SettingsReader, UserReader } from './reading/reader.ts'
export { ProbeFailure } from './resources/probe.ts'
export type { Resource, ResourceOptions, ResourceStatus } from './resources/resource.ts'
export type { EncryptionKey } from './secrets/encryption.ts'
export type { ReencryptReport } from './history/reencrypt.ts'
export { visibleTo } from './visibility.ts'
export type { Settings } from './settings.ts'
export { memoryStore } from './store/memory.ts'
export type { KeyCount, SettingsStore } from './store/store.ts'
export type { FindTenant, FoundTenant, TenantOfRequest, TenantOptions } from './tenants.ts'
export { valueSchema } from './values/value-schema.ts'
