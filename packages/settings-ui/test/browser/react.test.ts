/** The same scenarios with React itself: what hosts with a bundler of their own get (UI-30). */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'tap'
import { build } from 'vite'
import { adminScenarios } from '../support/admin-scenarios.js'
import { visit } from '../support/visit.js'

const packageFolder = fileURLToPath(new URL('../../', import.meta.url))

test('UI-30: the administration with React', { timeout: 150_000 }, async (t) => {
  const visited = await visit(t)
  if (!visited) return
  const outDir = await mkdtemp(join(tmpdir(), 'fastify-modular-react-'))
  t.teardown(() => rm(outDir, { recursive: true, force: true }))
  await build({
    configFile: false,
    root: packageFolder,
    logLevel: 'error',
    build: {
      outDir,
      emptyOutDir: true,
      modulePreload: false,
      rollupOptions: {
        input: join(packageFolder, 'src/app/main.tsx'),
        output: { entryFileNames: 'app.js' },
      },
    },
  })
  const body = await readFile(join(outDir, 'app.js'), 'utf8')
  // The page, its policy and its style sheet stay those of the server.
  await visited.page.route('**/assets/app.*.js', (route) =>
    route.fulfill({ body, contentType: 'text/javascript' }),
  )
  await adminScenarios(t, visited)
})
