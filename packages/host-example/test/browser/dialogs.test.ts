/** The dialogs of the settings pages within the frame of the application, light and dark: axe-core finds nothing (UI-23). */
import { testBrowser } from '@fastify-modular/test-support/browser'
import type { Page } from 'playwright-core'
import { test } from 'tap'
import { violationsOf } from '../axe.js'
import { startHost } from '../host.js'

/** What opens each dialog; the page is fresh each time, the API secret is set. */
const dialogs: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  'Review 2 changes': async (page) => {
    await page.getByLabel('Title', { exact: true }).fill('Another')
    await page.getByRole('button', { name: 'Replace API secret' }).click()
    await page.getByLabel('API secret', { exact: true }).fill('hush')
    await page.getByRole('button', { name: 'Review', exact: true }).click()
  },
  'Clear API secret?': (page) => page.getByRole('button', { name: 'Clear API secret' }).click(),
  'History of Title': async (page) => {
    await page.getByRole('button', { name: 'More for Title' }).click()
    await page.getByRole('menuitem', { name: 'History' }).click()
    await page.getByRole('listitem').filter({ hasText: 'changed Title' }).first().waitFor()
  },
  'Import settings': async (page) => {
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Import…' }).click()
    const settings = [
      { key: 'app.title', scope: 1, value: 'From a file' },
      { key: 'no.such', scope: 1, value: 1 },
    ]
    const buffer = Buffer.from(JSON.stringify({ format: 1, settings, omitted: [] }))
    await page
      .getByLabel('Choose a file')
      .setInputFiles({ name: 'settings.json', mimeType: 'application/json', buffer })
    await page.getByRole('dialog').getByText('From a file').waitFor()
  },
}

test('UI-23: axe-core finds nothing in any dialog', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const host = await startHost(t)
  const admin = await host.signIn('admin')
  for (const [key, value] of [
    ['app.title', 'Changed'],
    ['app.api_secret', 'hush'],
  ]) {
    await admin.ask('/api/settings', { method: 'PUT', body: { key, scope: 1, value } })
  }
  await admin.enter(browser)
  const page = await browser.newPage()
  page.on('dialog', (dialog) => void dialog.accept())

  for (const colorScheme of ['light', 'dark'] as const) {
    await t.test(colorScheme, async (t) => {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await admin.ask('/api/settings/me', { method: 'PUT', body: { key: 'app.theme', value: colorScheme } })
      for (const [title, open] of Object.entries(dialogs)) {
        await page.goto(`${host.url}/settings/manage?only=application`)
        await page.locator('[data-key]').first().waitFor()
        await open(page)
        await page.getByRole('dialog', { name: title }).waitFor()
        t.same(await violationsOf(page), [], title)
      }
    })
  }
})
