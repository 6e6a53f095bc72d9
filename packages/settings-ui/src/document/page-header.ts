/** The header of a page, which needs no script: the application, the caller, and the ways out. */
import type { Caller } from '@fastify-modular/core'
import type { SettingsUiOptions } from '../options.ts'
import type { PageMessages } from '../page-messages.ts'
import { relativePath } from '../relative-path.ts'
import { escapeHtml } from './escape-html.ts'
import type { PageName } from './page-config.ts'

/** URLs are relative to the page, so that a proxy may strip a prefix. */
export interface PageHeader {
  readonly page: PageName
  readonly title: string
  readonly logo: string | null
  readonly home: string
  readonly logout: string | null
  /** The other page, where there is one. */
  readonly other: string | null
  readonly userName: string | null
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

/** Renders the header. The choice of light or dark is a matter of the script, which shows it. */
export function renderHeader(header: PageHeader, texts: PageMessages): string {
  const { page, title, logo, home, logout, other, userName } = header
  return `<a class="fm-skip" href="#fm-settings">${escapeHtml(texts.skip)}</a>
<header class="fm-top">
<a class="fm-brand" href="${escapeHtml(home)}">${logo === null ? '' : `<img src="${escapeHtml(logo)}" alt="" height="24">`}${escapeHtml(title)}</a>
${other === null ? '' : `<a href="${escapeHtml(other)}">${escapeHtml(page === 'manage' ? texts.toUserPage : texts.toAdminPage)}</a>`}
<span class="fm-space"></span>
<select id="fm-scheme" aria-label="${escapeHtml(texts.theme)}" hidden>
${(['auto', 'light', 'dark'] as const).map((scheme) => `<option value="${scheme}">${escapeHtml(texts[scheme])}</option>`).join('')}
</select>
${userName === null ? '' : `<span class="fm-user">${escapeHtml(userName)}</span>`}
${logout === null ? '' : `<form method="post" action="${escapeHtml(logout)}"><button class="fm-quiet">${escapeHtml(texts.signOut)}</button></form>`}
</header>`
}
