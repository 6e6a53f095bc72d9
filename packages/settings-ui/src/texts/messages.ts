/** What each language says. */
import type { Messages } from '../react/messages.ts'

/** All texts that a host may replace: those of the components and those of the documents around them. */
export interface PageMessages extends Messages {
  /** Shown where there is no JavaScript. */
  readonly needsScript: string
  readonly skip: string
  /** The name of the header's links. */
  readonly pages: string
  readonly toUserPage: string
  readonly toAdminPage: string
  readonly signOut: string
  readonly account: string
  readonly theme: string
  readonly auto: string
  readonly light: string
  readonly dark: string
}
