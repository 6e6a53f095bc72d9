/** The search over everything, from every page. */
import { testBrowser } from '@fastify-modular/test-support/browser'
import { shows } from '@fastify-modular/test-support/shows'
import { test } from 'tap'
import { violationsOf } from '../axe.js'
import { startHost } from '../host.js'

test('the search', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const host = await startHost(t)

  await t.test('Ctrl K searches settings, notes and pages from every page', async (t) => {
    const admin = await host.signIn('admin')
    const body = { title: 'Dark chocolate cake', body: '200 g of the 70 % one' }
    await admin.ask('/api/notes', { method: 'POST', body })
    await admin.enter(browser)
    const page = await browser.newPage()
    const field = page.getByRole('searchbox', { name: 'Search everything' })
    const dialog = page.getByRole('dialog', { name: 'Search everything' })
    const open = async (path: string): Promise<void> => {
      await page.goto(host.url + path)
      await page.waitForFunction(() => customElements.get('fm-palette'))
      await page.keyboard.press('Control+k')
      await field.and(page.locator(':focus')).waitFor()
    }

    await t.test('it opens on pages of every kind, and offers what was written lately', async (t) => {
      for (const path of ['/', '/notes', '/mails', '/api/docs', '/settings/preferences', '/nowhere']) {
        await open(path)
        await page.getByRole('heading', { name: 'Lately' }).waitFor()
        await shows(t, () => page.getByRole('link', { name: /^Dark chocolate cake/ }).isVisible(), true, path)
      }
      t.same(await violationsOf(page), [])
    })

    await t.test('a note is found by its text, a page by its name', async (t) => {
      await open('/api/docs')
      await field.fill('chocolate')
      await page.getByRole('link', { name: /^Dark chocolate cake/ }).click()
      await page.waitForURL('**/notes?q=*')
      await page.getByRole('heading', { level: 2, name: 'Dark chocolate cake' }).waitFor()
      await open('/notes')
      await field.fill('prefer')
      t.equal(
        await page.getByRole('link', { name: /^Preferences/ }).getAttribute('href'),
        '/settings/preferences',
      )
    })

    await t.test('"close" offers to turn maintenance on, and says why', async () => {
      await open('/notes')
      await field.fill('close')
      const hit = page.getByRole('link', { name: /^Turn on Maintenance mode/ })
      await hit.getByText('Operation · Also called close the site').waitFor()
      const marked = "[...CSS.highlights.get('fm-match') ?? []].map(String).join(' and ')"
      await page.waitForFunction(`${marked} === 'close and close'`) // in Density, and in Maintenance mode
      await hit.click()
      await page.locator('[data-key="system.maintenance_mode"][data-state=unsaved]').waitFor()
    })

    await t.test('a new note begins from any page, and from the page of notes', async () => {
      for (const path of ['/', '/notes']) {
        await open(path)
        await dialog.getByRole('link', { name: 'New note' }).click()
        await page.getByRole('dialog', { name: 'New note' }).waitFor()
      }
    })

    await t.test('the session ends from there', async () => {
      await open('/notes')
      await dialog.getByRole('button', { name: 'Sign out' }).click()
      await page.getByRole('link', { name: 'Sign in', exact: true }).waitFor()
    })
  })

  await t.test('the field of the settings page keeps the keys, wherever the focus is', async (t) => {
    await browser.clearCookies()
    const admin = await host.signIn('admin')
    await admin.enter(browser)
    const page = await browser.newPage()
    await page.goto(`${host.url}/settings/manage`)
    await page.locator('[data-key="app.title"] input').fill('Acme')
    await page.locator('h1').first().click()
    t.not(await page.evaluate('document.activeElement.tagName'), 'FM-SETTINGS')
    t.equal(await page.getByRole('button', { name: 'Search everything' }).isVisible(), false)
    await page.keyboard.press('Control+k')
    await page.getByRole('searchbox', { name: 'Search settings' }).and(page.locator(':focus')).waitFor()
    t.equal(await page.getByRole('dialog').count(), 0)
    await page.locator('h1').first().click()
    await page.keyboard.press('Control+s')
    await page.getByRole('status').filter({ hasText: '1 setting saved' }).waitFor()
  })
})
