/** After a save, without a reload, the page is what the server would make of it anew. */
import { testBrowser } from '@fastify-modular/test-support/browser'
import { until } from '@fastify-modular/test-support/until'
import type { Page } from 'playwright-core'
import { type Test, test } from 'tap'
import { startHost } from '../host.js'

/** Header, notices, and what the document says of language, scheme and colour. */
async function lookOf(page: Page): Promise<unknown> {
  return page.evaluate(() => {
    const { lang, dataset } = document.documentElement
    const { theme, density } = dataset
    const accent = getComputedStyle(document.documentElement).getPropertyValue('--fm-accent')
    const around = [...document.querySelectorAll('.skip, .top, #app > aside')]
    const markup = around.map(({ outerHTML }) => outerHTML.replaceAll(/\s+/g, ' ').replaceAll('> <', '><'))
    const names = [...document.querySelectorAll('main h1, main h2, main label')].map(
      (each) => each.textContent,
    )
    return { title: document.title, lang, theme, density, accent, markup, names }
  })
}

test('after a save, without a reload, the page equals what the server renders anew', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const host = await startHost(t)
  const admin = await host.signIn('admin')
  await admin.enter(browser)
  const page = await browser.newPage()
  const fresh = await browser.newPage()
  let documents = 0
  page.on('domcontentloaded', () => documents++)

  /** Saves are done: `page` is as it was opened, and `fresh` is opened now. */
  async function areEqual(t: Test, path: string): Promise<void> {
    await fresh.goto(host.url + path)
    await fresh.locator('main [data-key]').first().waitFor()
    await until(async () => JSON.stringify(await lookOf(page)) === JSON.stringify(await lookOf(fresh))).catch(
      async () => t.same(await lookOf(page), await lookOf(fresh), path),
    )
    t.equal(documents, 1, `${path} was not loaded again`)
  }

  await t.test('title, logo, accent and banner', async (t) => {
    const path = '/settings/manage'
    await page.goto(host.url + path)
    documents = 1
    await page.getByLabel('Title', { exact: true }).fill('Saved')
    await page.getByLabel('Logo', { exact: true }).selectOption('leaf')
    await page.getByLabel('Banner', { exact: true }).fill('Closed')
    await page.getByLabel('Primary colour', { exact: true }).fill('#b91c1c')
    await page.keyboard.press('Control+s')
    await page.locator('.fm-bar').getByText('4 settings saved').waitFor()
    await areEqual(t, path)
    t.match(await lookOf(page), { accent: 'rgb(185, 28, 28)', title: 'Settings · Saved' })
  })

  await t.test('theme, density and language, also in another window of the same person', async (t) => {
    const path = '/settings/preferences'
    const other = await browser.newPage()
    await other.goto(host.url)
    await page.goto(host.url + path)
    documents = 1
    const choose = (key: string, value: string) =>
      page.locator(`main [data-key="${key}"] input[value=${value}]`).check()
    await choose('app.theme', 'dark')
    await choose('user.preferred_density', 'compact')
    await choose('app.language', 'de')
    const chosen = 'html[lang=de][data-theme=dark][data-density=compact]'
    await page.locator(chosen).waitFor()
    await other.bringToFront()
    await other.locator(chosen).waitFor()
    await other.close()
    await areEqual(t, path)
    t.match(await lookOf(page), { lang: 'de', theme: 'dark', density: 'compact' })
  })
})
