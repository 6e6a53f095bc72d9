/** @fastify-modular/settings/react: settings in components, for React 18 and later and Preact. */
export { SettingsProvider, useSetting } from './use-setting.ts'
