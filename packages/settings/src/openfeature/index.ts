/** @fastify-modular/settings/openfeature: settings as the flags of OpenFeature, in process and over HTTP. */
export { ofrep, type OfrepOptions } from './ofrep.ts'
export { settingsProvider, type SettingsProvider } from './provider.ts'
