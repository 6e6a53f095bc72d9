/** The files that the README shows for Vite, built and in development: rendered on the server, taken over in the browser. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { testBrowser } from '@fastify-modular/test-support/browser'
import { shows } from '@fastify-modular/test-support/shows'
import { spawnApp } from '@fastify-modular/test-support/spawn-app'
import { test } from 'tap'

const root = new URL('../../', import.meta.url)
const readme = readFileSync(new URL('README.md', root), 'utf8')
const vite = join(dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin/vite.js')
const name = '</script><b id="broken">Ada</b>'

/** The blocks of the README that begin with the name of a file. */
function writeFiles(folder: string): void {
  for (const [, file = '', content = ''] of readme.matchAll(
    /^```\w+\n(?:\/\/|<!--) ([\w.]+)(?: -->)?\n([^]*?)^```$/gm,
  ))
    writeFileSync(join(folder, file), content.replace("'Ada'", JSON.stringify(name)))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  mkdirSync(join(folder, 'node_modules/@fastify-modular'), { recursive: true })
  symlinkSync(fileURLToPath(root), join(folder, 'node_modules/@fastify-modular/inertia'))
  mkdirSync(join(folder, 'pages'))
  writeFileSync(
    join(folder, 'pages/Home.jsx'),
    `import { Head, usePage } from '@inertiajs/react'
import { useState } from 'react'
export default function Home({ name }) {
  if (usePage().url === '/?broken' && typeof window === 'undefined') throw new Error('for browsers alone')
  const [count, setCount] = useState(0)
  return <><Head title="Home" /><h1>{name}</h1><button onClick={() => setCount(count + 1)}>{count}</button></>
}`,
  )
  writeFileSync(
    join(folder, 'start.js'),
    `import { app } from './server.js'
console.log(await app.listen({ port: 0, host: '127.0.0.1' }))
process.once('SIGTERM', () => process.exit())`,
  )
}

test('pages of Vite are rendered on the server, and taken over in the browser', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const folder = mkdtempSync(join(import.meta.dirname, 'vite-')) // where it finds what it imports
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  writeFiles(folder)
  const built = spawnSync(process.execPath, [vite, 'build', '--app'], { cwd: folder, encoding: 'utf8' })
  t.equal(built.status, 0, built.stderr)

  for (const args of [[], ['--dev']]) {
    await t.test(args.join('') || 'built', async (t) => {
      const app = await spawnApp('start.js', { cwd: folder, args, env: { NODE_ENV: undefined } })
      t.teardown(() => app.stop())
      const html = await (await fetch(app.url)).text()
      t.match(html, /<div data-server-rendered="true" id="app"[^>]*><h1>&lt;\/script&gt;/)
      t.match(html, /<title[^>]*>Home<\/title>/)
      t.notMatch(html, '<b id="broken">', 'a prop cannot end the element of the page')

      const page = await browser.newPage()
      const problems: string[] = []
      page.on('pageerror', ({ message }) => problems.push(message))
      page.on('console', (message) => void (message.type() === 'error' && problems.push(message.text())))
      await page.goto(app.url)
      await shows(t, () => page.locator('h1').textContent(), name)
      // The button answers once the client has taken the page over.
      const button = page.locator('button')
      await page.waitForFunction(() => {
        const it = document.querySelector('button')
        it?.click()
        return it?.textContent !== '0'
      })
      t.not(await button.textContent(), '0')
      t.same(problems, [])

      t.notMatch(await (await fetch(`${app.url}/?broken`)).text(), 'data-server-rendered')
      await page.goto(`${app.url}/?broken`)
      await shows(
        t,
        () => page.locator('h1').textContent(),
        name,
        'the client renders what the server could not',
      )
      await page.close()
    })
  }
})
