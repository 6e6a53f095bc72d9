/** What the first page promises, tried from its own text: its samples, its table and its printed access. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { testBrowser } from '@fastify-modular/test-support/browser'
import { spawnApp, spawnNode } from '@fastify-modular/test-support/spawn-app'
import { replay, stepsOf } from '@fastify-modular/test-support/transcript'
import { type Test, test } from 'tap'

const root = new URL('../../../', import.meta.url)
const textOf = (path: string): string => readFileSync(new URL(path, root), 'utf8')
const readme = textOf('README.md')
const alone = textOf('docs/guides/one-plugin.md')

/** Inside of this package, so that its packages are found, and where nothing looks for tests. */
const data = fileURLToPath(new URL('packages/integration/data/', root))
mkdirSync(data, { recursive: true })
const folder = mkdtempSync(join(data, 'readme-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

/** The part of a document below a heading, up to the next one of its level. */
function section(markdown: string, heading: string): string {
  const [, text] = markdown.split(`\n## ${heading}\n`)
  if (text === undefined) throw new Error(`There is no heading "${heading}".`)
  return text.split('\n## ')[0] ?? ''
}

function block(markdown: string, language: string): string {
  const [, code] = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'm').exec(markdown) ?? []
  if (code === undefined) throw new Error(`There is no block of ${language}.`)
  return code
}

const linesOf = (code: string): string[] => code.split('\n').filter((line) => line.trim() !== '')

/** Starts a sample as it stands, but for its port; what listens prints its address. */
async function start(t: Test, name: string, code: string) {
  const file = join(folder, `${name}.mjs`)
  t.match(code, 'await app.listen({ port: 3000 })')
  writeFileSync(
    file,
    code.replace(/await (app\.listen\()\{ port: 3000 \}\)/, 'console.log(await $1{ port: 0 }))'),
  )
  const app = await spawnApp(file)
  t.teardown(() => app.stop())
  return app
}

const settingsSample = section(readme, 'Settings with pages')
const accessSample = section(readme, 'Who may call what')

test('the first page is short, and so are its samples', async (t) => {
  t.ok(linesOf(readme).length <= 90 && readme.trimEnd().split('\n').length <= 90, 'the page')
  t.ok(linesOf(block(settingsSample, 'js')).length <= 15, 'settings with pages')
  t.ok(linesOf(block(accessSample, 'js')).length <= 8, 'who may call what')
})

test('settings with pages: closed to strangers, changed by the administrator, seen on the page', async (t) => {
  const { url } = await start(t, 'settings', block(settingsSample, 'js'))
  t.match(settingsSample, 'http://localhost:3000/settings/manage')
  const authorization = `Basic ${btoa('admin:admin')}`
  const stranger = await fetch(`${url}/settings/manage`)
  t.equal(stranger.status, 401)
  t.match(stranger.headers.get('www-authenticate'), /^Basic realm=/, 'a browser asks for the password')
  t.equal((await fetch(`${url}/settings/manage`, { headers: { authorization } })).status, 200)
  t.equal(await (await fetch(url)).text(), 'The colour is #2f57dd.')
  const saved = await fetch(`${url}/api/settings`, {
    method: 'PUT',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ key: 'shop.color', scope: 1, value: '#c8632b' }),
  })
  t.equal(saved.status, 204)
  t.equal(await (await fetch(url)).text(), 'The colour is #c8632b.')
})

test('settings with pages, in a browser: the colour shows before it is saved, and is there afterwards', async (t) => {
  const context = await testBrowser(t)
  if (!context) return
  const { url } = await start(t, 'browser', block(settingsSample, 'js'))
  const page = await context.newPage()
  await page.goto(`${url.replace('//', '//admin:admin@')}/settings/manage`) // as typed into the dialog of the browser
  await page.goto(`${url}/settings/manage`)
  const accent = () =>
    page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--fm-accent'))
  const before = await accent()
  await page.getByRole('textbox', { name: 'Colour', exact: true }).fill('#a01040')
  await page.getByText('Preview · only you see this').first().waitFor()
  await page.waitForFunction(
    (old) => getComputedStyle(document.documentElement).getPropertyValue('--fm-accent') !== old,
    before,
  )
  t.equal(await (await fetch(url)).text(), 'The colour is #2f57dd.', 'nobody else sees it')
  await page.getByRole('button', { name: /^Save/ }).click()
  await page.locator('.fm-bar').getByText('1 setting saved').waitFor()
  t.equal(await (await fetch(url)).text(), 'The colour is #a01040.')
})

test('who may call what: the sample prints the table that stands below it', async (t) => {
  const file = join(folder, 'access.mjs')
  writeFileSync(file, block(accessSample, 'js'))
  const app = spawnNode(file)
  t.equal((await app.exited).code, 0)
  const trimmed = (text: string): string[] => linesOf(text).map((line) => line.trimEnd())
  t.same(trimmed(app.log()), trimmed(block(accessSample, 'text')))
})

/** The rows of the table of plugins: what the link names, and how many lines it promises. */
const rows = [
  ...readme.matchAll(
    /^\| \[([\w-]+)\]\(docs\/guides\/one-plugin\.md#([\w-]+)\) \| (?:settings and )?(\d+) lines \|/gm,
  ),
]

test('the table of plugins has every plugin of the page about one alone', async (t) => {
  const described = [...alone.matchAll(/^## ([\w-]+)\n[^#]*?^```diff/gm)].map(([, name]) => name)
  t.same(
    rows.map(([, name]) => name),
    described,
  )
  t.equal(rows.length, 6)
})

for (const [, name = '', , lines] of rows) {
  test(`${name} alone: takes ${lines} lines, and answers as the page shows`, async (t) => {
    const text = section(alone, name)
    const diff = block(text, 'diff')
    t.equal(diff.match(/^\+/gm)?.length, Number(lines))
    const before = diff.replaceAll(/^\+.*\n/gm, '').replaceAll(/^[-+ ]/gm, '')
    t.equal(
      (await fetch((await start(t, `${name}-before`, before)).url)).status < 500,
      true,
      'it works without',
    )
    const app = await start(t, name, diff.replaceAll(/^-.*\n/gm, '').replaceAll(/^[-+ ]/gm, ''))
    const steps = stepsOf(text)
    await replay(t, steps, app.url)
    if (steps.length > 0) return
    const authorization = `Basic ${btoa('admin:admin')}`
    t.equal((await fetch(`${app.url}/settings/manage`)).status, 401)
    const answer = await fetch(`${app.url}/settings/manage`, { headers: { authorization } })
    t.match(await answer.text(), /<title>Settings/)
  })
}
