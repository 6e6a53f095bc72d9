/** The HTML document around every page of this application. */
import type { RootTemplate } from '@fastify-modular/inertia'
import type { Assets } from './assets.ts'
import { escapeHtml } from './escape-html.ts'

interface DocumentParts {
  readonly title: string
  readonly body: string
  /** `light`, `dark`, or `system` to follow the browser. @default 'system' */
  readonly theme?: string
  /** Elements for `<head>`. */
  readonly head?: string
}

/** Writes a whole document. */
export type Document = (parts: DocumentParts) => string

/** The document with the styles of the front end. */
export function createDocument(assets: Assets): Document {
  return ({ title, body, theme = 'system', head = '' }) => `<!doctype html>
<html lang="en" data-theme="${escapeHtml(theme)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="${assets.style}">
${head}
</head>
<body>${body}</body>
</html>
`
}

/** The document of a first visit to an Inertia page. */
export function createRootTemplate(assets: Assets, document: Document): RootTemplate {
  const head = `<script type="module" src="${assets.script}"></script>`
  return ({ html, page }) => {
    const { title, theme } = textsOf(page.props['app'])
    return document({ title, theme, head, body: html })
  }
}

/** Error pages may come without shared props. */
function textsOf(shared: unknown): { title: string; theme: string } {
  const { title, theme } = { ...(shared as { title?: unknown; theme?: unknown } | undefined) }
  return {
    title: typeof title === 'string' ? title : 'Fastify Modular',
    theme: typeof theme === 'string' ? theme : 'system',
  }
}
