/** What the front-end build made. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

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
