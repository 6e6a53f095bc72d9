/** The HTML document around every page of this application, and the files of the front-end build that it names. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RootTemplate } from '@fastify-modular/inertia'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { defaultAccent } from '../app-settings.ts'
import type { SharedProps } from './shared-props.ts'
import { Html, html } from './html.ts'
import type { Look } from './look.ts'
import { withoutScript } from './without-script.ts'

/** The settings that a document follows before any script runs. */
type DocumentLook = Pick<Look, 'theme' | 'density' | 'language' | 'accent'>

interface DocumentParts {
  readonly title: string | Html
  readonly body: Html
  /** @default as the browser's system says, in English */
  readonly look?: DocumentLook
  /** What else the page needs in its head. */
  readonly head?: Html
}

/** Writes a whole document. */
export type Document = (parts: DocumentParts) => string

const plainLook: DocumentLook = {
  theme: 'system',
  density: 'comfortable',
  language: 'en',
  accent: defaultAccent,
}

/** The document with the styles of the front end. */
export function createDocument(assets: Assets): Document {
  return ({ title, body, look = plainLook, head }) => {
    const { theme, density, language, accent } = look
    return String(
      html`<!doctype html>
        <html lang="${language}" data-theme="${theme}" data-density="${density}">
          <head>
            <meta charset="utf-8" />
            <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
            <meta name="color-scheme" content="light dark" />
            <title>${title}</title>
            <link rel="stylesheet" href="${assets.style}" />
            <link rel="stylesheet" href="${accentPath(accent)}" />
            ${head}
          </head>
          <body>
            ${body}
          </body>
        </html> `,
    )
  }
}

/** Where the style sheet of an accent is: the policy allows no style within the document. */
function accentPath(color: string): string {
  return `/accent/${color.slice(1)}.css`
}

/** The document of a first visit to an Inertia page. */
export function createRootTemplate(assets: Assets, document: Document): RootTemplate {
  return async ({ html: content, page, request }) => {
    const shared: Partial<SharedProps> = page.props
    const first = shared.app && new Html(await request.server.settings.publicDataElement(request))
    const body = html`${new Html(content)}<noscript>${withoutScript(page)}</noscript>`
    return document({
      title: shared.app?.title ?? 'Fastify Modular',
      head: html`<script type="module" src="${assets.script}"></script>
        ${first}`,
      body,
      ...(shared.app && { look: shared.app }),
    })
  }
}

export interface Assets {
  /** The folder that is served under `/static/`. */
  readonly folder: string
  /** Changes whenever a file changes: their names carry hashes of their contents. */
  readonly version: string
  readonly script: string
  readonly style: string
  /** The path of the style sheet of the API browser. */
  readonly docsStyle: string
}

const File = Type.Object({ file: Type.String() })
const Manifest = Type.Object({ 'app.tsx': File, 'style.css': File, 'docs.css': File })

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
    docsStyle: join(folder, manifest['docs.css'].file),
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
