// What the pictures of the README show: pages of the example application, in the week of its demonstration.
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { node } from './command.mjs'
import { findBrowser } from '../test-support/dist/browser.js'
import { spawnApp } from '../test-support/dist/spawn-app.js'

export const fromHost = createRequire(resolve('packages/host-example/package.json'))

/**
 * `signIn` names the account, `enter` what is typed, by the name of its field; where there is a window beside, it is saved, and
 * seen there.
 */
const pictures = [
  {
    name: 'preview-light',
    path: '/settings/manage',
    signIn: 'admin',
    colorScheme: 'light',
    enter: {
      Title: 'Acme Field Notes',
      'Primary colour': '#c8632b',
      Banner: 'We are closed on Thursday 24 December. Letters leave on Monday.',
    },
  },
  { name: 'administration-light', path: '/settings/manage', signIn: 'admin', colorScheme: 'light' },
  { name: 'preferences-dark', path: '/settings/preferences', signIn: 'alice', colorScheme: 'dark' },
  { name: 'home-phone', path: '/', signIn: 'admin', colorScheme: 'light', width: 390, height: 844 },
  // The last one: what it saves stays.
  {
    name: 'two-windows',
    path: '/settings/manage',
    signIn: 'editor',
    colorScheme: 'light',
    width: 820,
    height: 760,
    enter: {
      Title: 'Acme Field Notes',
      'Primary colour': '#c8632b',
      Banner: 'We are closed on Thursday 24 December.',
    },
    beside: { path: '/', signIn: 'alice', colorScheme: 'light', width: 400, height: 760 },
  },
]

/**
 * Starts the example and a browser, and calls `visit(name, pages)` for one picture after the other, with its windows from left to right;
 * `style` is added to the pages.
 * @throws {Error} there is no Chromium
 */
export async function visitPictures(visit, style) {
  const executablePath = findBrowser()
  if (executablePath === null)
    throw new Error('Chromium is missing: install it, or name its program in CHROME_PATH')
  const data = await mkdtemp(join(tmpdir(), 'pictures-'))
  const env = { NODE_ENV: undefined, PORT: '0', DATABASE_URL: `sqlite:${join(data, 'host.sqlite')}` }
  await node(resolve('packages/host-example/dist/seed.js'), [], { env: { ...process.env, ...env } })
  const app = await spawnApp(resolve('packages/host-example/dist/main.js'), { env })
  const { chromium } = fromHost('playwright-core')
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  try {
    for (const picture of pictures) {
      const { name, beside, enter } = picture
      const other = beside && (await openPicture(browser, app.url, beside, style))
      const page = await openPicture(browser, app.url, picture, style)
      const pages = other ? [page, other] : [page]
      if (other) {
        await page.keyboard.press('Control+s')
        await page.getByText('3 settings saved').first().waitFor()
        for (const text of [enter.Title, enter.Banner]) await other.getByText(text).first().waitFor()
      }
      await visit(name, pages)
      for (const each of pages) await each.context().close()
    }
  } finally {
    await browser.close()
    await app.stop()
    await rm(data, { recursive: true, force: true })
  }
}

/** Opens the page of a picture in a context of its own, and waits until it is there. */
async function openPicture(browser, url, { path, signIn, colorScheme, enter = {}, ...picture }, style) {
  const { width = 1280, height = 800 } = picture
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    locale: 'en-GB',
    reducedMotion: 'reduce',
    bypassCSP: true,
  })
  const form = { user: signIn, password: `demo-${signIn}` }
  await context.request.post(`${url}/login`, { form, failOnStatusCode: true })
  const page = await context.newPage()
  await page.goto(url + path)
  if (style) await page.addStyleTag({ content: style })
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.waitForLoadState('load') // never idle: pages follow settings
  for (const [name, text] of Object.entries(enter)) await page.getByLabel(name, { exact: true }).fill(text)
  await page.locator('main label').first().waitFor()
  await page.locator('main .fm-bone:visible').first().waitFor({ state: 'hidden' })
  if (picture.name?.startsWith('preview')) await page.locator('.fm-try:visible').waitFor()
  await page.evaluate('document.fonts.ready')
  return page
}

/** The words of pages, a line each, without those that depend on the time of day. */
export async function textOf(pages) {
  return (await Promise.all(pages.map(wordsOf))).join('')
}

async function wordsOf(page) {
  const parts = '.brand, nav a, aside > p, h1, h2, main label, .fm-pill, .fm-try, main li b, main .fm-button'
  const lines = await page.locator(`:is(${parts}):visible`).allInnerTexts()
  return lines
    .map((line) => line.replaceAll(/\s+/g, ' ').trim())
    .filter((line) => line !== '' && !/^(?:Good |in \d)/.test(line))
    .join('\n')
    .concat('\n')
}
