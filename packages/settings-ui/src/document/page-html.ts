/** The document of a page: a shell without any value of a setting. */
import type { Assets } from '../assets.ts'
import { escapeHtml } from './escape-html.ts'
import type { PageConfig } from './page-config.ts'
import { type PageHeader, renderHeader } from './page-header.ts'
import { defaultPageMessages } from '../page-messages.ts'

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

/** Renders the document; `assetBase` is the folder of the assets as seen from the page. */
export function renderPage(
  config: PageConfig,
  header: PageHeader,
  assets: Assets,
  assetBase: string,
): string {
  const locale = config.locale ?? 'en'
  const texts = { ...defaultPageMessages, ...config.messages }
  const heading = config.page === 'manage' ? texts.adminHeading : texts.userHeading
  const title = heading === header.title ? heading : `${heading} · ${header.title}`
  return `<!doctype html>
<html lang="${escapeHtml(locale)}" dir="${directionOf(locale)}"${config.scheme === 'auto' ? '' : ` data-theme="${config.scheme}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assetBase}/${assets.style.name}">
<script type="module" src="${assetBase}/${assets.script.name}"></script>
<script type="application/json" id="fm-config">${escapeJson(config)}</script>
</head>
<body>
${renderHeader(header, texts)}
<main id="fm-app"><p class="fm-loading">${escapeHtml(texts.loading)}</p></main>
<noscript><p class="fm-loading">${escapeHtml(texts.needsScript)}</p></noscript>
</body>
</html>
`
}

/** JSON that cannot end its script element, and has no line separators that older parsers choke on. */
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
