// Takes the pictures of the README from the example application, in Inter, whatever fonts this machine has.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const folder = 'docs/images'
const most = 200_000 // bytes of a picture
const fromHost = createRequire(resolve('packages/host-example/package.json'))

/** What each picture shows, in the week of the demonstration: `signIn` names the account. */
const pictures = [
  { name: 'administration-light', path: '/settings/manage', signIn: 'admin', colorScheme: 'light' },
  { name: 'preferences-dark', path: '/settings/preferences', signIn: 'alice', colorScheme: 'dark' },
  { name: 'home-phone', path: '/', signIn: 'admin', colorScheme: 'light', width: 390, height: 844 },
]

export default async function screenshots() {
  const { spawnApp } = await import(resolve('test-support/dist/spawn-app.js'))
  const { findBrowser } = await import(resolve('test-support/dist/browser.js'))
  const { chromium } = fromHost('playwright-core')
  const executablePath = findBrowser()
  if (executablePath === null)
    throw new Error('Chromium is missing: install it, or name its program in CHROME_PATH')
  const data = await mkdtemp(join(tmpdir(), 'screenshots-'))
  const cleanUp = [() => rm(data, { recursive: true, force: true })]
  try {
    const app = await spawnApp(resolve('packages/host-example/dist/main.js'), {
      env: { NODE_ENV: undefined, PORT: '0', DATABASE_URL: `sqlite:${join(data, 'host.sqlite')}` },
    })
    cleanUp.unshift(() => app.stop())
    const browser = await chromium.launch({
      executablePath,
      args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
    })
    cleanUp.unshift(() => browser.close())
    const style = await fontStyle()
    for (const picture of pictures) await take(browser, app.url, style, picture)
  } finally {
    for (const step of cleanUp) await step()
  }
}

/** Inter as a style that needs no request. */
async function fontStyle() {
  const faces = [400, 500, 600, 700].map(async (weight) => {
    const file = fromHost.resolve(`@fontsource/inter/files/inter-latin-${weight}-normal.woff2`)
    const font = (await readFile(file)).toString('base64')
    return `@font-face{font-family:Inter;font-weight:${weight};src:url(data:font/woff2;base64,${font})}`
  })
  return `${(await Promise.all(faces)).join('')}:root{--fm-font:Inter}body,.fm{font-family:Inter}`
}

async function signIn(context, url, name) {
  const data = { username: name, password: `demo-${name}` }
  await context.request.post(`${url}/login`, { data, failOnStatusCode: true })
}

async function take(
  browser,
  url,
  style,
  { name, path, colorScheme, width = 1280, height = 800, ...picture },
) {
  const viewport = { width, height }
  const context = await browser.newContext({
    viewport,
    colorScheme,
    reducedMotion: 'reduce',
    bypassCSP: true,
  })
  await signIn(context, url, picture.signIn)
  const page = await context.newPage()
  await page.goto(url + path)
  await page.addStyleTag({ content: style })
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.waitForLoadState('load') // never idle: pages follow settings
  await page.evaluate('document.fonts.ready')
  const file = join(folder, `${name}.png`)
  const image = await page.screenshot()
  if (image.length > most) throw new Error(`${file} would have ${image.length} bytes, more than ${most}`)
  await writeFile(file, image)
  await context.close()
}
