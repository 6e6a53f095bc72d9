/** The settings pages as React components. Style sheet: `@fastify-modular/settings-ui/react/styles.css`. */
export { defaultMessages, type Messages, type Plural } from '../texts/messages.ts'
export { ManageSettings, SettingsGroup } from './settings-components.tsx'
export { Preferences } from './settings-components.tsx'
export type { SettingsProps } from './settings-components.tsx'
