/** What the server tells a page about its caller and its host: never the value of a setting. */
import { type Caller, mayUpdate } from './caller.ts'
import type { SettingsUiOptions } from './options.ts'
import { relativePath } from './relative-path.ts'
import type { Messages } from './react/messages/messages.ts'

export type PageName = 'manage' | 'me'

/** Sent as JSON within the page; URLs are relative to it, so that a proxy may strip a prefix. */
export interface PageConfig {
  readonly page: PageName
  readonly apiBase: string
  readonly title: string
  readonly logo: string | null
  readonly home: string
  readonly logout: string | null
  /** The other page, where there is one. */
  readonly other: string | null
  readonly userName: string | null
  /** Whether the caller holds `Settings.Update`. */
  readonly canUpdate: boolean
  readonly canUpdateOwn: boolean
  readonly isAdmin: boolean
  readonly locale: string
  readonly scheme: 'auto' | 'light' | 'dark'
  readonly messages: Partial<Messages>
}

/** The configuration of one page for one caller, as seen from the path of the request. */
export function pageConfig(
  page: PageName,
  path: string,
  caller: Caller | null,
  options: SettingsUiOptions,
): PageConfig {
  const { prefix = '/settings', adminPage = true, userPage = true } = options
  const from = (target: string): string => relativePath(path, target)
  const other = page === 'manage' ? userPage && 'me' : adminPage && 'manage'
  const canUpdate = mayUpdate(caller)
  return {
    page,
    apiBase: from(options.apiBase ?? '/api/settings'),
    title: options.title ?? 'Settings',
    logo:
      options.logo === undefined ? null : options.logo.startsWith('/') ? from(options.logo) : options.logo,
    home: from(options.home ?? '/'),
    logout: options.logout === undefined ? null : from(options.logout),
    other: other ? from(`${prefix}/${other}`) : null,
    userName: caller ? (caller.name ?? caller.id) : null,
    canUpdate,
    canUpdateOwn: canUpdate || (caller !== null && options.ownWrites === 'authenticated'),
    isAdmin: caller?.isAdmin === true,
    locale: options.locale ?? 'en',
    scheme: options.theme?.scheme ?? 'auto',
    messages: options.messages ?? {},
  }
}
