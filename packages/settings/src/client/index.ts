/** @fastify-modular/settings/client: the HTTP API from a browser or from Node, without dependencies. */
export { createSettingsClient } from './client.ts'
export type { Conflict, Problem } from './settings-request-error.ts'
export { SettingsRequestError } from './settings-request-error.ts'
export type { CallOptions, SettingsClientOptions } from './request.ts'
export type {
  BulkPreviewEntry,
  ChangesPage,
  DefinitionsFilter,
  HistoryPageOptions,
  ImportMode,
  ListedHistoryEntry,
  ListFilter,
  LongValue,
  MySettingDto,
  SettingChangeSet,
  SettingsClient,
  WriteCondition,
} from './settings-client.ts'
export type { SettingDefinitionDto } from '../http/definition-dto.ts'
export type { BulkSettingUpdate, SettingSource, SettingValueDto } from '../service/contract.ts'
export type { HistoryEntry, HistoryPage } from '../service/history.ts'
export type { SettingInspection } from '../service/read/inspect.ts'
export type { ImportReport, SettingsExport } from '../service/transfer.ts'
export {
  type JsonValue,
  type SettingOption,
  SettingScope,
  SettingType,
  type ShowWhen,
} from '../setting-definition.ts'
