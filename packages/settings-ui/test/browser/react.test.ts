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
  const { page, open, row } = visited

  /** The page, its policy and its style sheet stay those of the server. */
  async function serve(input: string): Promise<void> {
    await bundle(input, outDir)
    const body = await readFile(join(outDir, 'app.js'), 'utf8')
    await page.unroute('**/assets/app.*.js')
    await page.route('**/assets/app.*.js', (route) => route.fulfill({ body, contentType: 'text/javascript' }))
  }

  await serve(join(packageFolder, 'src/app/main.tsx'))
  await adminScenarios(t, visited)

  await t.test('one group stands on a page of the host', async (t) => {
    await serve(groupPage)
    await open('/settings/manage')
    t.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'Mail')
    t.equal(await page.locator('[data-key]').count(), 3)
    t.equal(await page.getByRole('searchbox').count(), 0)
    await page.getByLabel('SMTP port', { exact: true }).fill('25')
    t.equal(await page.locator('body').getAttribute('data-dirty'), 'true')
    await page.keyboard.press('Enter')
    await row('mail.port').and(page.locator('[data-state=overridden]')).waitFor()
    t.equal(await page.locator('body').getAttribute('data-dirty'), 'false')
    t.equal(await page.locator('body').getAttribute('data-saved'), 'true')
  })
})

/** A page of a host, by the public entry. */
const groupPage = 'virtual:group'
const groupCode = `
  import { createElement } from 'react'
  import { createRoot } from 'react-dom/client'
  import { SettingsGroup } from '@fastify-modular/settings-ui/react'
  import '@fastify-modular/settings-ui/react/styles.css'
  const onDirtyChange = (isDirty) => void (document.body.dataset.dirty = isDirty)
  const onSaved = () => void (document.body.dataset.saved = true)
  const page = createElement(SettingsGroup, { group: 'Mail', canUpdate: true, isAdmin: true, onDirtyChange, onSaved })
  createRoot(document.getElementById('fm-app')).render(page)`

async function bundle(input: string, outDir: string): Promise<void> {
  await build({
    configFile: false,
    root: packageFolder,
    logLevel: 'error',
    plugins: [
      {
        name: 'virtual',
        resolveId: (id) => (id === groupPage ? join(packageFolder, 'group.js') : null),
        load: (id) => (id.endsWith('/settings-ui/group.js') ? groupCode : null),
      },
    ],
    build: {
      outDir,
      emptyOutDir: true,
      modulePreload: false,
      rollupOptions: { input, output: { entryFileNames: 'app.js' } },
    },
  })
}
