/** @fastify-modular/settings-ui: prebuilt pages for settings, administration and preferences. */
export type { ThemeOptions, ThemeToken } from './theme.ts'
export type { SettingsUiOptions } from './options.ts'
export { settingsUi, settingsUi as default } from './plugin.ts'
export type { PageMessages } from './options.ts'
