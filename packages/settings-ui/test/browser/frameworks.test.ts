/** The recipes of the guide for React, built and mounted as a host does it. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Module } from '@fastify-modular/core'
import { shows } from '@fastify-modular/test-support/shows'
import { test } from 'tap'
import { build } from 'vite'
import { definitions } from '../support/definitions.js'
import { visit } from '../support/visit.js'

const packageFolder = fileURLToPath(new URL('../../', import.meta.url))
const guide = await readFile(join(packageFolder, '../../docs/guides/settings-ui.md'), 'utf8')

/** The component of the guide under this heading. */
function recipeOf(name: string): string {
  const [, code] = new RegExp(`^#+ ${name}\\n[^]*?^\`\`\`jsx\\n([^]*?)^\`\`\``, 'm').exec(guide) ?? []
  if (code === undefined) throw new Error(`The guide has no recipe for ${name}.`)
  return code
}

const entry = join(packageFolder, 'entry.jsx')
const admin = join(packageFolder, 'admin.jsx')
const mount = `
  import { createElement, useState } from 'react'
  import { createRoot } from 'react-dom/client'
  import { Admin } from './admin.jsx'
  function Host() {
    const [saved, setSaved] = useState([])
    return createElement('main', null,
      createElement('output', null, saved.join(' ')),
      createElement(Admin, { onSaved: (keys) => setSaved([...saved, ...keys]) }))
  }
  createRoot(document.getElementById('host')).render(createElement(Host))`

/** The script of a host, with this version of React. */
async function bundle(version: '18' | '19', recipe: string): Promise<string> {
  const outDir = await mkdtemp(join(tmpdir(), 'fastify-modular-react-'))
  const codes = new Map([
    [entry, mount],
    [admin, recipe],
  ])
  try {
    await build({
      configFile: false,
      root: packageFolder,
      logLevel: 'error',
      resolve: {
        alias: version === '19' ? [] : [{ find: /^(react(?:-dom)?)(?=\/|$)/, replacement: '$1-18' }],
      },
      plugins: [
        {
          name: 'host',
          resolveId: (id) => (id === './admin.jsx' ? admin : codes.has(id) ? id : null),
          load: (id) => codes.get(id) ?? null,
        },
      ],
      build: {
        outDir,
        modulePreload: false,
        rollupOptions: { input: entry, output: { entryFileNames: 'host.js', codeSplitting: false } },
      },
    })
    return await readFile(join(outDir, 'host.js'), 'utf8')
  } finally {
    await rm(outDir, { recursive: true, force: true })
  }
}

for (const version of ['18', '19'] as const) {
  test(`React ${version}: the recipe of the guide shows the administration, whose events reach the host`, async (t) => {
    const script = await bundle(version, recipeOf(`React ${version}`))
    const host: Module = {
      name: 'react-host',
      plugin: async (app) => {
        const config = { access: 'public' }
        app.get('/host.js', { config }, (_request, reply) => reply.type('text/javascript').send(script))
        app.get('/host', { config }, (_request, reply) =>
          reply.type('text/html')
            .send(`<!doctype html><html lang="en"><title>Host</title><link rel="icon" href="data:,"><div id="host"></div>
<script type="module" src="/settings/assets/element.js"></script><script type="module" src="/host.js"></script></html>`),
        )
      },
    }
    const visited = await visit(t, { modules: [host] })
    if (!visited) return
    const { page, open, url, app, complaints } = visited
    await open('/settings/preferences')
    await page.goto(`${url}/host?group=mail`)
    const port = page.locator('fm-settings').getByLabel('SMTP port', { exact: true })
    await port.fill('25')
    await port.press('Enter')
    await page.locator('output').getByText('mail.port').waitFor()
    t.equal(app.settings.get(definitions.port), 25)
    await page.locator('fm-settings').getByLabel('SMTP host', { exact: true }).fill('draft')
    await port.fill('26')
    await shows(t, () => page.locator('fm-settings').count(), 1)
    await shows(t, () => page.locator('body').innerText(), /mail\.port/, 'drawn again, the element stays')
    t.same(complaints, [])
  })
}
