/** The HTML document around every page of this application, and the files of the front-end build that it names. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RootTemplate } from '@fastify-modular/inertia'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

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

export interface Assets {
  /** The folder that is served under `/static/`. */
  readonly folder: string
  /** Changes whenever a file changes: their names carry hashes of their contents. */
  readonly version: string
  readonly script: string
  readonly style: string
}

const File = Type.Object({ file: Type.String() })
const Manifest = Type.Object({ 'app.tsx': File, 'style.css': File })

/**
 * Reads the manifest of the build in this folder.
 * @throws {Error} the front end has not been built
 */
export function readAssets(folder: string): Assets {
  const { text, manifest } = readManifest(join(folder, '.vite', 'manifest.json'))
  return {
    folder,
    version: createHash('sha256').update(text).digest('base64url').slice(0, 16),
    script: `/static/${manifest['app.tsx'].file}`,
    style: `/static/${manifest['style.css'].file}`,
  }
}

function readManifest(file: string): { text: string; manifest: Static<typeof Manifest> } {
  try {
    const text = readFileSync(file, 'utf8')
    return { text, manifest: Value.Decode(Manifest, JSON.parse(text)) }
  } catch (cause) {
    throw new Error('The front end is not built. Run "npm run build" in the root of the repository.', {
      cause,
    })
  }
}

/** The text, harmless in elements and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
