/** The settings pages as React components. Style sheet: `@fastify-modular/settings-ui/react/styles.css`. */
export { defaultMessages, type Messages, type Plural } from '../texts/messages.ts'
export { accentShades, type AccentShades } from '../accent.ts'
export type { Preview, PreviewSlot, PreviewTarget } from '../preview.ts'
export { ManageSettings, Preferences, SettingsGroup, type SettingsProps } from './settings-components.tsx'
