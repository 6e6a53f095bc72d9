/** What a page gets from the server about its caller and its host: never the value of a setting. */
import { type Caller, hasPermission } from '@fastify-modular/core'
import type { SettingsUiOptions } from '../options.ts'
import type { PageMessages } from '../page-messages.ts'
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
    canUpdate: isOwn || hasPermission(caller, 'Settings.Update'),
    isAdmin: caller?.isAdmin === true,
    ...(options.locale !== undefined && { locale: options.locale }),
    scheme: options.theme?.scheme ?? 'auto',
    messages: options.messages ?? {},
  }
}
