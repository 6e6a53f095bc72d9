/** The settings pages as React components. Style sheet: `@fastify-modular/settings-ui/react/styles.css`. */
export { defaultMessages, type Messages, type Plural } from './messages.ts'
export { SettingsAdmin, SettingsGroup } from './settings-components.tsx'
export { UserSettings } from './settings-components.tsx'
export type { SettingsProps } from './settings-components.tsx'
