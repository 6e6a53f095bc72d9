/** @fastify-modular/settings/tokens: declares settings in files that servers and browsers share; without Node, 1.5 kB. */
export {
  setting,
  type SettingKeyMap,
  type ValuesOf,
  type SettingToken,
  type SettingValue,
} from './definitions/tokens.ts'
export { type JsonValue, type SettingDefinition, SettingScope } from './setting-definition.ts'
