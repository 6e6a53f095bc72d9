/** The texts of the documents, beside those of the components within them. */
import { defaultMessages, type Messages } from './react/messages/messages.ts'

/** All texts that a host may replace. */
export interface PageMessages extends Messages {
  /** What whoever has no JavaScript reads. */
  readonly needsScript: string
  readonly skip: string
  readonly toUserPage: string
  readonly toAdminPage: string
  readonly signOut: string
  readonly theme: string
  readonly auto: string
  readonly light: string
  readonly dark: string
}

export const defaultPageMessages: PageMessages = {
  ...defaultMessages,
  needsScript:
    'The settings pages need JavaScript. Without it, the HTTP API under /api/settings offers everything they do.',
  skip: 'Skip to the settings',
  toUserPage: 'My settings',
  toAdminPage: 'All settings',
  signOut: 'Sign out',
  theme: 'Theme',
  auto: 'System theme',
  light: 'Light',
  dark: 'Dark',
}
