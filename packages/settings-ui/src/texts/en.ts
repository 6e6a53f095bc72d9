/** English. */
import { defaultMessages } from '../react/messages.ts'
import type { PageMessages } from './messages.ts'

export const english: PageMessages = {
  ...defaultMessages,
  needsScript:
    'The settings pages need JavaScript. Without it, the HTTP API under /api/settings offers everything they do.',
  skip: 'Skip to the settings',
  pages: 'Pages',
  toUserPage: 'Preferences',
  toAdminPage: 'Settings',
  signOut: 'Sign out',
  account: 'Your account',
  theme: 'Theme',
  auto: 'System',
  light: 'Light',
  dark: 'Dark',
}
