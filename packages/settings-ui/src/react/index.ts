/** The settings pages as React components. Style sheet: `@fastify-modular/settings-ui/react/styles.css`. */
export { defaultMessages, type Messages, type Plural } from './messages/messages.ts'
export { SettingsAdmin, SettingsGroup } from './settings-admin.tsx'
export { UserSettings } from './user-settings.tsx'
export type { SettingsProps } from './page/use-settings-page.ts'
