/** What the server tells a page about its caller and its host: never the value of a setting. */
import { type Caller, mayUpdate } from '../caller.ts'
import type { SettingsUiOptions } from '../options.ts'
import type { PageHeader } from './page-header.ts'
import type { PageMessages } from './page-messages.ts'
import { relativePath } from '../relative-path.ts'

export type PageName = 'manage' | 'me'

/** Sent as JSON within the page. */
export interface PageConfig {
  readonly page: PageName
  /** Relative to the page, so that a proxy may strip a prefix. */
  readonly apiBase: string
  /** Whether the caller may change what this page shows, System settings apart. */
  readonly canUpdate: boolean
  readonly isAdmin: boolean
  /** Left out where the host names none. */
  readonly locale?: string
  readonly scheme: 'auto' | 'light' | 'dark'
  readonly messages: Partial<PageMessages>
}

/** The configuration of one page for one caller, as seen from the path of the request. */
export function pageConfig(
  page: PageName,
  path: string,
  caller: Caller | null,
  options: SettingsUiOptions,
): PageConfig {
  const isOwn = page === 'me' && caller !== null && options.ownWrites === 'authenticated'
  return {
    page,
    apiBase: relativePath(path, options.apiBase ?? '/api/settings'),
    canUpdate: isOwn || mayUpdate(caller),
    isAdmin: caller?.isAdmin === true,
    ...(options.locale !== undefined && { locale: options.locale }),
    scheme: options.theme?.scheme ?? 'auto',
    messages: options.messages ?? {},
  }
}

/** What the header of a page shows to one caller. */
export function pageHeader(
  page: PageName,
  path: string,
  caller: Caller | null,
  options: SettingsUiOptions,
): PageHeader {
  const { prefix = '/settings', adminPage = true, userPage = true, title, logo, home, logout } = options
  const from = (target: string): string => relativePath(path, target)
  const other = page === 'manage' ? userPage && 'me' : adminPage && 'manage'
  return {
    page,
    title: title ?? 'Settings',
    logo: logo === undefined ? null : logo.startsWith('/') ? from(logo) : logo,
    home: from(home ?? '/'),
    logout: logout === undefined ? null : from(logout),
    other: other ? from(`${prefix}/${other}`) : null,
    userName: caller ? (caller.name ?? caller.id) : null,
  }
}
