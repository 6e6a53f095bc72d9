/** @fastify-modular/settings-ui: prebuilt pages for settings, administration and preferences. */
export type { ThemeOptions, ThemeToken } from './theme.ts'
export type { OfRequest, PageContent, PageLink, SettingsUiOptions, Visibility } from './options.ts'
export { hueOf } from './people.ts'
export { accentShades, type AccentShades } from './accent.ts'
export type { PaletteItem } from './palette-item.ts'
export type { Preview, PreviewSlot, PreviewTarget } from './preview.ts'
export { settingsUi, settingsUi as default } from './plugin.ts'
export type { Messages as PageMessages } from './texts/texts.ts'
