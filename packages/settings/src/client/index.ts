/** @fastify-modular/settings/client: the HTTP API from a browser or from Node, without dependencies. */
export { createSettingsClient, SettingsRequestError } from './client.ts'
export type {
  BulkPreviewEntry,
  CallOptions,
  ChangesFilter,
  ChangesPage,
  GotSettingDto,
  HistoryPageOptions,
  ImportMode,
  ListedHistoryPage,
  ListFilter,
  MySettingDto,
  People,
  Problem,
  RevertMode,
  SettingChangeSet,
  SettingsClient,
  SettingsClientOptions,
  WriteCondition,
  WrittenSettingDto,
} from './client.ts'
export type { SettingDefinitionDto } from '../http/localized-definitions.ts'
export type { BulkSettingUpdate } from '../write/write.ts'
export type { SettingValueDto } from '../reading/dto.ts'
export type { SettingSource } from '../memory/shared-values.ts'
export type { Conflict } from '../exceptions.ts'
export type { HistoryEntry, HistoryPage } from '../history/history.ts'
export type { RevertedValue, RevertReport } from '../history/revert.ts'
export type { SettingInspection } from '../reading/inspect.ts'
export type { ImportReport, SettingsExport } from '../history/transfer.ts'
export {
  type JsonValue,
  type SettingOption,
  SettingScope,
  SettingType,
  type ShowWhen,
  type ValueSchema,
} from '../setting-definition.ts'
