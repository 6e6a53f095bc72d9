/** Pages with React itself: what hosts with a bundler of their own get. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import type { Page } from 'playwright-core'

const packageFolder = fileURLToPath(new URL('../../', import.meta.url))
const hostPage = join(packageFolder, 'host-page.js')

/** The prebuilt pages' own entry. */
export const prebuiltEntry = join(packageFolder, 'src/browser/main.tsx')

/** Serves another script: a file, or the code of a host's page. The document, its policy and its styles stay. */
export async function serve(
  page: Page,
  script: { readonly file: string } | { readonly code: string },
): Promise<void> {
  const body = await bundle('file' in script ? script.file : hostPage, 'code' in script ? script.code : '')
  await page.unroute('**/assets/app.*.js')
  await page.route('**/assets/app.*.js', (route) => route.fulfill({ body, contentType: 'text/javascript' }))
}

async function bundle(input: string, code: string): Promise<string> {
  const outDir = await mkdtemp(join(tmpdir(), 'fastify-modular-react-'))
  try {
    await build({
      configFile: false,
      root: packageFolder,
      logLevel: 'error',
      plugins: [
        {
          name: 'host-page',
          resolveId: (id) => (id === hostPage ? id : null),
          load: (id) => (id === hostPage ? code : null),
        },
      ],
      build: {
        outDir,
        emptyOutDir: true,
        modulePreload: false,
        rollupOptions: { input, output: { entryFileNames: 'app.js', codeSplitting: false } },
      },
    })
    return await readFile(join(outDir, 'app.js'), 'utf8')
  } finally {
    await rm(outDir, { recursive: true, force: true })
  }
}
