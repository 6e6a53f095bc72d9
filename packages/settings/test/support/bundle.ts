/** Bundles for browsers, as a host's own bundler makes them. */
import { fileURLToPath } from 'node:url'
import { build, type Rolldown } from 'vite'

const packageFolder = fileURLToPath(new URL('../../', import.meta.url))
const entry = `${packageFolder}entry.js`

/** Bundles a script. A module of Node that it needs is in `imports`. `alias` has other names for packages. */
export async function bundle(
  code: string,
  alias: Readonly<Record<string, string>> = {},
): Promise<Pick<Rolldown.OutputChunk, 'code' | 'imports'>> {
  const built = await build({
    configFile: false,
    root: packageFolder,
    logLevel: 'silent',
    resolve: { alias },
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === entry ? id : null),
        load: (id) => (id === entry ? code : null),
      },
      {
        name: 'modules-of-node',
        enforce: 'pre',
        resolveId: (id) => (id.startsWith('node:') ? { id, external: true } : null),
      },
    ],
    build: { write: false, minify: true, lib: { entry, formats: ['es'], fileName: 'entry' } },
  })
  const [output] = [built].flat()
  const chunk = output && 'output' in output ? output.output[0] : undefined
  if (!chunk) throw new Error('Nothing was built.')
  return chunk
}
