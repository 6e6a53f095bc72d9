/** @fastify-modular/settings/client: the HTTP API from a browser or from Node, without dependencies. */
export { createSettingsClient } from './client.ts'
export { type CallOptions, type SettingsClientOptions, SettingsRequestError } from './request.ts'
export type {
  ChangesFilter,
  ChangesPage,
  HistoryPageOptions,
  ImportMode,
  KeptChange,
  ListFilter,
  OpenChange,
  ProbeAnswer,
  RevertMode,
  SettingChangeSet,
  SettledChange,
  SettingsClient,
  TenantSettingDto,
  TenantUpdate,
  WriteCondition,
  WrittenSettingDto,
} from './client.ts'
export type { SettingDefinitionDto } from '../http/localized-definitions.ts'
export type { SettingValueDto, ValueChange } from '../reading/dto.ts'
export type { HistoryEntry } from '../history/history.ts'
export type { RevertReport } from '../history/revert.ts'
export type { ImportReport, SettingsExport } from '../history/transfer.ts'
export { type JsonValue, type SettingOption, SettingScope, SettingType } from '../setting-definition.ts'
