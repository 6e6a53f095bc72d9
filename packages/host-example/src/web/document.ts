/** The HTML of a first visit: the page as React draws it, in the document around every page of this application. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page, RootTemplate } from '@fastify-modular/inertia'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { defaultAccent } from '../app-settings.ts'
import { accentPath } from './accent-path.ts'
import type { Look } from './look.ts'
import type { SharedProps } from './shared-props.ts'

/** Of a page that comes without the settings of the application: as the browser's system says, in English. */
type PlainLook = Pick<Look, 'theme' | 'density' | 'language' | 'accent'>
const plainLook: PlainLook = {
  theme: 'system',
  density: 'comfortable',
  language: 'en',
  accent: defaultAccent,
}

interface Drawing {
  draw(page: Page): Promise<{ readonly head: readonly string[]; readonly body: string }>
}

/** Draws pages on the server; the client takes them over. Their forms and links work without it. */
export async function createRootTemplate(assets: Assets): Promise<RootTemplate> {
  // The front end is compiled after this program, whose types it has: its address is known, and its types are not.
  const { draw } = (await import(new URL('../pages/draw.js', import.meta.url).href)) as Drawing
  return async ({ html, page, request }) => {
    const { app }: Partial<SharedProps> = page.props
    const look: PlainLook = app ?? plainLook
    const { head, body } = await draw(page).catch((err: unknown) => {
      request.log.error({ err }, 'a page could not be drawn on the server: the client draws it')
      return { head: [], body: html }
    })
    return `<!doctype html>
<html lang="${look.language}" data-theme="${look.theme}" data-density="${look.density}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="${assets.style}">
<link rel="stylesheet" href="${accentPath(look.accent)}" id="accent">
<script type="module" src="${assets.script}"></script>
${head.join('\n')}
</head>
<body>
${body}
${await request.server.settings.publicDataElement(request)}
</body>
</html>
`
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
const Manifest = Type.Object({ 'client.tsx': File, 'style.css': File })

/**
 * Reads the manifest of the build in this folder.
 * @throws {Error} the front end has not been built
 */
export function readAssets(folder: string): Assets {
  const { text, manifest } = readManifest(join(folder, '.vite', 'manifest.json'))
  return {
    folder,
    version: createHash('sha256').update(text).digest('base64url').slice(0, 16),
    script: `/static/${manifest['client.tsx'].file}`,
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
