/** The document of a page: a shell without any value of a setting, and a header that needs no script. */
import { type Caller, hasPermission } from '@fastify-modular/core'
import type { SettingGroup } from '@fastify-modular/settings'
import { type Assets, themeAddress } from './assets.ts'
import { groupIcon } from './group-icons.ts'
import { directionOf, languageOf } from './locale.ts'
import type { Look } from './look.ts'
import type { PageContent, PageLink, SettingsUiOptions } from './options.ts'
import { hueOf, initialsOf } from './people.ts'
import { type Preview, type PreviewTarget, slotOf } from './preview.ts'
import type { PageTenant } from './tenant.ts'
import type { Messages } from './texts/texts.ts'

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
  readonly tenant: PageTenant | null
  /** The pages that this caller has a link to. */
  readonly linked: readonly PageName[]
  readonly look: Look
  readonly options: SettingsUiOptions & Required<Pick<SettingsUiOptions, 'prefix' | 'baseUrl'>>
}

/** The parts of the document. */
export function pageContent(visit: PageVisit, assets: Assets): PageContent {
  const { page, path, look, options } = visit
  const { title: name, texts, locale, theme } = look
  const config = pageConfig(visit, assets)
  const { heading } = config
  return {
    title: escapeHtml(heading === name ? heading : `${heading} · ${name}`),
    head: `${config.styles.map((href) => `<link rel="stylesheet" href="${escapeHtml(href)}">`).join('\n')}
<script type="module" src="${relativePath(path, `${options.prefix}/assets`)}/${assets.script}"></script>
${preloads(config)}
<script type="application/json" id="fm-config">${escapeJson(config)}</script>`,
    body: `<fm-settings id="fm-app" class="fm" page="${page}" address><noscript><p class="fm-empty">${escapeHtml(texts.needsScript)}</p></noscript></fm-settings>`,
    locale: escapeHtml(locale),
    direction: directionOf(locale),
    scheme: theme.scheme ?? 'auto',
    policy: strictPolicy,
  }
}

/** The whole document, in the layout of this package. */
export function renderPage(visit: PageVisit, content: PageContent): string {
  return renderDocument({ ...content, body: `${renderHeader(visit)}\n<main>${content.body}</main>` })
}

type Shell = Pick<PageContent, 'title' | 'head' | 'body' | 'locale' | 'direction' | 'scheme'>

function renderDocument({ title, head, body, locale, direction, scheme }: Shell): string {
  return `<!doctype html>
<html lang="${locale}" dir="${direction}" data-theme="${scheme}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="data:,">
${head}
</head>
<body>
${body}
</body>
</html>
`
}

/** The document that is left when somebody has signed in again for a page in another tab: it closes itself. */
export function renderSignedIn({
  path,
  look,
  options,
}: Pick<PageVisit, 'path' | 'look' | 'options'>): string {
  const { locale, texts } = look
  const script = relativePath(path, `${options.prefix}/assets/close.js`)
  const title = escapeHtml(texts.signedIn)
  return renderDocument({
    title,
    head: `<script type="module" src="${script}"></script>`,
    body: `<main><h1>${title}</h1><p>${escapeHtml(texts.signedInHint)}</p></main>`,
    locale: escapeHtml(locale),
    direction: directionOf(locale),
    scheme: 'auto',
  })
}

/** Requests that the script will make: answered while it loads. Definitions in a language that the host names need its header. */
function preloads({ page, baseUrl, definitionsLocale, texts }: PageConfig): string {
  const paths = [
    ...texts.slice(0, 1),
    ...(definitionsLocale === undefined ? [`${baseUrl}/definitions`] : []),
    baseUrl + listPaths[page],
  ]
  return paths
    .map((path) => `<link rel="preload" as="fetch" crossorigin href="${escapeHtml(path)}">`)
    .join('\n')
}

/** Where the API has the values of a page. */
const listPaths: Readonly<Record<PageName, string>> = { manage: '', preferences: '/me', tenant: '/tenant' }

/** JSON that cannot end its script element, and has no line separators that older parsers reject. */
function escapeJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

export type PageName = 'manage' | 'preferences' | 'tenant'

/** A group with a face. */
interface PageGroup {
  /** In place of its name. */
  readonly displayName?: string | undefined
  /** What to draw: one path. */
  readonly icon?: string | undefined
  readonly description?: string | undefined
  /** Its address is relative to that of the page. */
  readonly action?: PageLink | undefined
}

/** Sent as JSON, within the page or alone for `<fm-settings>`: what the page learns about its caller and its host, never the value of a setting. */
export interface PageConfig {
  readonly page: PageName
  /** Of its document and of its first heading. */
  readonly heading: string
  /** This address and those below are relative to that of the page. */
  readonly baseUrl: string
  readonly styles: readonly string[]
  /** The texts of the language, and the English ones for where those cannot be loaded. */
  readonly texts: readonly string[]
  /** Whether the caller may change what this page shows, System settings apart. */
  readonly canUpdate: boolean
  readonly isAdmin: boolean
  /** The organisation in which the caller works; left out where there is none. */
  readonly tenant?: PageTenant | undefined
  /** Left out where nobody is known to be signed in. */
  readonly callerId?: string
  readonly locale: string
  readonly direction: 'ltr' | 'rtl'
  /** Left out where the host names none: the browser says in which language it wants definitions. */
  readonly definitionsLocale?: string
  readonly scheme: 'auto' | 'light' | 'dark'
  /** What is shown before it is saved: addresses of images are relative to that of the page. */
  readonly preview?: Preview
  /** Of the preferences: the key of the setting that chooses the scheme around them. */
  readonly themeSetting?: string
  readonly messages: Partial<Messages>
  /** By their names in definitions. */
  readonly groups?: Readonly<Record<string, PageGroup>>
  /** Outside production: a page without settings says how to define one. */
  readonly isDevelopment?: true
}

/** What the script of a page needs to know. */
export function pageConfig(visit: PageVisit, assets: Assets): PageConfig {
  const { page, path, caller, tenant, look, options } = visit
  const { prefix, baseUrl } = options
  const { locale, isLocaleNamed, messages, theme } = look
  const assetBase = relativePath(path, `${prefix}/assets`)
  const texts = new Set([languageOf(locale), 'en'].flatMap((language) => assets.texts.get(language) ?? []))
  const isOwn = page === 'preferences' && caller !== null && options.selfService === true
  return {
    page,
    heading: headingOf(page, tenant, look),
    baseUrl: relativePath(path, baseUrl),
    styles: [assets.style, themeAddress(theme.tokens ?? {}, options.css ?? '')].flatMap((name) =>
      name === undefined ? [] : `${assetBase}/${name}`,
    ),
    texts: [...texts].map((name) => `${assetBase}/${name}`),
    // Callers who may not change the values of their organisation do not get its page.
    canUpdate: isOwn || page === 'tenant' || hasPermission(caller, 'Settings.Update'),
    isAdmin: caller?.isAdmin === true,
    ...(tenant && { tenant }),
    ...(caller && { callerId: caller.id }),
    locale,
    direction: directionOf(locale),
    ...(isLocaleNamed && { definitionsLocale: locale }),
    scheme: theme.scheme ?? 'auto',
    ...(options.preview && { preview: relativePreview(path, options.preview) }),
    ...(page === 'preferences' && theme.setting !== undefined && { themeSetting: theme.setting }),
    messages,
    groups: pageGroups(visit),
    ...(process.env['NODE_ENV'] !== 'production' && { isDevelopment: true }),
  }
}

/** A page is called what it shows; that of an organisation has the name of it. */
function headingOf(page: PageName, tenant: PageTenant | null, { texts }: Look): string {
  return (page === 'tenant' && tenant?.name) || texts[page]
}

function pageGroups({ path, caller, look }: PageVisit): Readonly<Record<string, PageGroup>> {
  const entries = Object.entries(look.groups).map(
    ([name, { icon, action, ...texts }]): [string, PageGroup] => [
      name,
      { ...texts, icon: groupIcon(icon), action: action && pageAction(action, path, caller) },
    ],
  )
  return Object.fromEntries(entries)
}

/** A link that leads to a refusal is none. */
function pageAction(
  { label, href, permission }: NonNullable<SettingGroup['action']>,
  path: string,
  caller: Caller | null,
): PageLink | undefined {
  if (permission !== undefined && !hasPermission(caller, permission)) return undefined
  return { label, href: relativeHref(path, href) }
}

/** Paths as `relativePath` has them; other addresses as they are. */
function relativeHref(path: string, target: string): string {
  return target.startsWith('/') ? relativePath(path, target) : target
}

function relativePreview(path: string, preview: Preview): Preview {
  const relative = (target: PreviewTarget): PreviewTarget => {
    if (typeof target === 'string') return target
    const images = Object.entries(target.values).map(([value, image]) => [value, relativeHref(path, image)])
    return { ...target, values: Object.fromEntries(images) }
  }
  return Object.fromEntries(Object.entries(preview).map(([key, target]) => [key, relative(target)]))
}

/** One row: the application, its links and the other page, and a menu of the caller. It needs no script but for the theme. */
function renderHeader({ page, path, caller, tenant, linked, look, options }: PageVisit): string {
  const { prefix, home = '/', logout } = options
  const { title, logo, banner, texts, theme } = look
  const slots = new Set(Object.values(options.preview ?? {}).map(slotOf))
  const href = (target: string): string => escapeHtml(relativeHref(path, target))
  const name = caller === null ? '' : (caller.name ?? caller.id)
  const links = [
    ...look.links,
    ...linked
      .filter((each) => each !== page)
      .map((each) => ({ href: `${prefix}/${each}`, label: headingOf(each, tenant, look) })),
  ]
    .map((link) => `<a href="${href(link.href)}" dir="auto">${escapeHtml(link.label)}</a>`)
    .join('')
  return `<a class="fm fm-skip" href="#fm-settings">${escapeHtml(texts.skip)}</a>
<header class="fm fm-top fm-line">
<a class="fm-brand fm-line" href="${href(home)}">${logo === undefined && !slots.has('logo') ? '' : `<img${logo === undefined ? '' : ` src="${href(logo)}"`} alt="" height="24" data-fm-preview="logo">`}<span dir="auto" data-fm-preview="title">${escapeHtml(title)}</span></a>
${links && `<nav class="fm-links" aria-label="${escapeHtml(texts.pages)}">${links}</nav>`}
<span class="fm-push" id="fm-preview"></span>
<button class="fm-me" type="button" popovertarget="fm-me"><span class="fm-face" aria-hidden="true" data-hue="${hueOf(caller?.id ?? '')}">${escapeHtml(initialsOf(name || title))}</span><span class="fm-hidden">${escapeHtml(texts.account)}</span></button>
<div class="fm fm-menu" id="fm-me" popover role="group" aria-label="${escapeHtml(texts.account)}">
${name === '' ? '' : `<p class="fm-small"><span class="fm-user" dir="auto">${escapeHtml(name)}</span></p>`}
${links}
${theme.setting === undefined ? renderSchemes(texts) : ''}
${logout === undefined ? '' : `<hr><form method="post" action="${href(logout)}"><button>${escapeHtml(texts.signOut)}</button></form>`}
</div>
</header>
${banner || slots.has('banner') ? `<aside class="fm fm-banner" dir="auto" data-fm-preview="banner">${escapeHtml(banner ?? '')}</aside>` : ''}`
}

/** The choice of the scheme; the script shows it. */
function renderSchemes(texts: Messages): string {
  const choices = (['auto', 'light', 'dark'] as const).map(
    (scheme) =>
      `<label><input type="radio" name="fm-scheme" value="${scheme}">${escapeHtml(texts[scheme])}</label>`,
  )
  return `<div id="fm-scheme" role="radiogroup" aria-label="${escapeHtml(texts.theme)}" hidden>
<p class="fm-small">${escapeHtml(texts.theme)}</p>
<div class="fm-seg">${choices.join('')}</div>
</div>`
}

/** Text within HTML and within quoted attributes. */
function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
}

/** `/settings/manage`, `/api/settings` → `../api/settings`: works behind a proxy that strips a prefix. Never empty, never absolute. */
export function relativePath(from: string, to: string): string {
  const end = to.search(/[?#]|$/)
  const folders = from.split('/').slice(1, -1)
  const path = to.slice(1, end).split('/') // an empty part counts: `/go/https://example.com`
  let shared = 0
  while (shared < path.length - 1 && folders[shared] === path[shared]) shared++
  const up = '../'.repeat(folders.length - shared)
  return `${up || './'}${path.slice(shared).join('/')}${to.slice(end)}`
}
