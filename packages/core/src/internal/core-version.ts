/** Packages of one release work together, on these versions of Fastify: `core/internal` may change with each minor version. */
import { readFileSync } from 'node:fs'
import { createMisuseError } from './misuse-error.ts'

/** Versions of Fastify that the plugins run on, for their `fastify` metadata. */
export const supportedFastify = '5.x || 6.x'

const FMOD_CORE_VERSION_MISMATCH = createMisuseError<[string, string, string, string, string]>(
  'FMOD_CORE_VERSION_MISMATCH',
  '%s %s needs @fastify-modular/core %s.x, and %s is installed. Run: npm install @fastify-modular/core@%s',
)

interface Manifest {
  readonly name: string
  readonly version: string
}

/**
 * Compares a package's minor version with that of the core it runs on; call it when a plugin registers.
 * @param moduleUrl `import.meta.url` of a module in the package's `dist`
 * @throws {FMOD_CORE_VERSION_MISMATCH} with the command that installs the right core
 */
export function checkCoreVersion(moduleUrl: string): void {
  const own = readManifest(new URL('../package.json', moduleUrl))
  const core = readManifest(new URL('../../package.json', import.meta.url))
  if (!own || !core) return // bundled into an application: what was built together runs together
  const minor = minorOf(own.version)
  if (minor === minorOf(core.version)) return
  throw new FMOD_CORE_VERSION_MISMATCH(own.name, own.version, minor, core.version, minor)
}

/** `0.3.1` → `0.3` */
function minorOf(version: string): string {
  return version.split('.', 2).join('.')
}

function readManifest(url: URL): Manifest | undefined {
  try {
    const manifest = JSON.parse(readFileSync(url, 'utf8')) as Manifest // parsed JSON
    return manifest.name.startsWith('@fastify-modular/') ? manifest : undefined
  } catch {
    return undefined
  }
}
