/** @fastify-modular/settings/tokens: declares settings in files that servers and browsers share; without Node, 1.5 kB. */
export { setting, type SettingToken, type ValuesOf } from './definitions/tokens.ts'
export { SettingScope } from './setting-definition.ts'
