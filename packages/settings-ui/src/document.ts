/** The document of a page: a shell without any value of a setting, and a header that needs no script. */
import { posix } from 'node:path'
import { type Caller, hasPermission } from '@fastify-modular/core'
import type { Assets } from './assets.ts'
import { defaultPageMessages, type PageMessages, type SettingsUiOptions } from './options.ts'
import { initialsOf } from './react/model/initials.ts'

/** No inline script or style, no other origin, no HTML from strings. */
export const strictPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** One visit of a page. */
export interface PageVisit {
  readonly page: PageName
  /** The path of the request: the URLs of a page are relative to it, so that a proxy may strip a prefix. */
  readonly path: string
  readonly caller: Caller | null
  readonly options: SettingsUiOptions
}

/** Renders the document. */
export function renderPage(visit: PageVisit, assets: Assets): string {
  const { page, path, options } = visit
  const { prefix = '/settings', locale = 'en', title: name = 'Settings' } = options
  const config = pageConfig(visit)
  const texts = { ...defaultPageMessages, ...options.messages }
  const heading = page === 'manage' ? texts.adminHeading : texts.userHeading
  const title = heading === name ? heading : `${heading} · ${name}`
  const assetBase = relativePath(path, `${prefix}/assets`)
  return `<!doctype html>
<html lang="${escapeHtml(locale)}" dir="${directionOf(locale)}"${config.scheme === 'auto' ? '' : ` data-theme="${config.scheme}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assetBase}/${assets.style.name}">
<script type="module" src="${assetBase}/${assets.script.name}"></script>
${preloads(config)}
<script type="application/json" id="fm-config">${escapeJson(config)}</script>
</head>
<body>
${renderHeader(visit, texts)}
<main id="fm-app" class="fm"><noscript><p class="fm-empty">${escapeHtml(texts.needsScript)}</p></noscript></main>
</body>
</html>
`
}

/** Requests that the script will make: answered while it loads. Definitions in a language of the host's need its header. */
function preloads({ page, apiBase, locale }: PageConfig): string {
  const paths = [...(locale === undefined ? ['/definitions'] : []), page === 'me' ? '/me' : '']
  return paths
    .map((path) => `<link rel="preload" as="fetch" crossorigin href="${escapeHtml(apiBase + path)}">`)
    .join('\n')
}

/** JSON that cannot end its script element, and has no line separators that older parsers reject. */
function escapeJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

const rightToLeft = new Set(['ar', 'arc', 'ckb', 'dv', 'fa', 'he', 'ku', 'ps', 'sd', 'ug', 'ur', 'yi'])

function directionOf(locale: string): 'ltr' | 'rtl' {
  return rightToLeft.has(new Intl.Locale(locale).language) ? 'rtl' : 'ltr'
}

export type PageName = 'manage' | 'me'

/** Sent as JSON within the page: what the page learns about its caller and its host, never the value of a setting. */
export interface PageConfig {
  readonly page: PageName
  /** Relative to the page. */
  readonly apiBase: string
  /** Whether the caller may change what this page shows, System settings apart. */
  readonly canUpdate: boolean
  readonly isAdmin: boolean
  /** Left out where the host names none. */
  readonly locale?: string
  readonly scheme: 'auto' | 'light' | 'dark'
  readonly messages: Partial<PageMessages>
}

function pageConfig({ page, path, caller, options }: PageVisit): PageConfig {
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

/** One row: the application, the way to the other page, and a menu of the caller. It needs no script but for the theme. */
function renderHeader({ page, path, caller, options }: PageVisit, texts: PageMessages): string {
  const { prefix = '/settings', adminPage = true, userPage = true, title = 'Settings' } = options
  const { logo, home = '/', logout } = options
  const href = (target: string): string => escapeHtml(relativePath(path, target))
  const other = page === 'manage' ? userPage && 'me' : adminPage && 'manage'
  const name = caller === null ? '' : (caller.name ?? caller.id)
  const link =
    other === false
      ? ''
      : `<a href="${href(`${prefix}/${other}`)}">${escapeHtml(page === 'manage' ? texts.toUserPage : texts.toAdminPage)}</a>`
  return `<a class="fm fm-skip" href="#fm-settings">${escapeHtml(texts.skip)}</a>
<header class="fm fm-top">
<a class="fm-brand" href="${href(home)}">${logo === undefined ? '' : `<img src="${logo.startsWith('/') ? href(logo) : escapeHtml(logo)}" alt="" height="24">`}${escapeHtml(title)}</a>
${link}
<button class="fm-me" type="button" popovertarget="fm-me"><span class="fm-face" aria-hidden="true">${escapeHtml(initialsOf(name || title))}</span><span class="fm-hidden">${escapeHtml(texts.account)}</span></button>
<div class="fm fm-menu" id="fm-me" popover role="group" aria-label="${escapeHtml(texts.account)}">
${name === '' ? '' : `<p class="fm-small"><span class="fm-user">${escapeHtml(name)}</span></p>`}
${link}
<p class="fm-small">${escapeHtml(texts.theme)}</p>
<div class="fm-seg" id="fm-scheme" role="radiogroup" aria-label="${escapeHtml(texts.theme)}" hidden>
${(['auto', 'light', 'dark'] as const).map((scheme) => `<label><input type="radio" name="fm-scheme" value="${scheme}">${escapeHtml(texts[scheme])}</label>`).join('')}
</div>
${logout === undefined ? '' : `<hr><form method="post" action="${href(logout)}"><button>${escapeHtml(texts.signOut)}</button></form>`}
</div>
</header>`
}

/** Text within HTML and within quoted attributes. */
function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
}

/** `/settings/manage`, `/api/settings` → `../api/settings`: works behind a proxy that strips a prefix. Never empty, never absolute. */
export function relativePath(from: string, to: string): string {
  const folder = from.endsWith('/') ? from : posix.dirname(from)
  const path = posix.relative(folder, to)
  const slash = to.endsWith('/') && path !== '' ? '/' : ''
  return path === '' ? './' : `${path.startsWith('.') ? '' : './'}${path}${slash}`
}
