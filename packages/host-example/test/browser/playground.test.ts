/** A stranger tries settings on the first page, and takes them along to where they are saved. */
import { readdir, readFile } from 'node:fs/promises'
import { testBrowser } from '@fastify-modular/test-support/browser'
import { shows } from '@fastify-modular/test-support/shows'
import { until } from '@fastify-modular/test-support/until'
import type { Page } from 'playwright-core'
import { test } from 'tap'
import { startHost } from '../host.js'

/** What browsers make of it, also halfway of a cross-fade. */
const accentOf = (page: Page): Promise<string> =>
  page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--fm-accent')")

test('the playground', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const host = await startHost(t)

  await t.test(
    'a stranger tries title, colour and banner, and saves them as the administrator',
    async (t) => {
      const page = await browser.newPage()
      const complaints: string[] = []
      page.on('pageerror', ({ message }) => complaints.push(message))
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
      const brand = page.locator('.brand')
      const banner = page.locator('.banner')

      await page.goto(host.url)
      const before = await accentOf(page)
      await page.getByText('Change one of the three and watch this page.').waitFor()

      await t.test('the page shows each of them as it is entered, and nobody else sees it', async (t) => {
        await page.getByLabel('Title').fill('Field Notes')
        await brand.filter({ hasText: 'Field Notes' }).waitFor()
        await page.getByLabel('Title').fill(' ')
        await brand.filter({ hasText: 'Fastify Modular' }).waitFor() // it is required
        await page.getByLabel('Title').fill('Field Notes')
        await page.getByTitle('Rust').click()
        await until(async () => (await accentOf(page)) === 'rgb(163, 74, 27)')
        await page.getByLabel('Banner').fill('<b>Closed</b> on Friday')
        await banner.filter({ hasText: '<b>Closed</b> on Friday' }).waitFor()
        await page
          .getByRole('status')
          .filter({ hasText: 'Preview · only you see this' })
          .waitFor({ state: 'attached' })
        const { text } = await host.anonymous.ask('/')
        t.notMatch(text, /Field Notes|Closed|a34a1b\.css/)
      })

      await t.test('a button shows what is saved instead, another one ends it', async (t) => {
        const toggle = page.locator('[aria-pressed]')
        await toggle.focus()
        await page.keyboard.press('Space')
        await shows(t, () => toggle.getAttribute('aria-pressed'), 'false')
        await brand.filter({ hasText: 'Fastify Modular' }).waitFor()
        await until(async () => (await accentOf(page)) === before)
        await page.keyboard.press('Enter')
        await brand.filter({ hasText: 'Field Notes' }).waitFor()
        await page.getByRole('button', { name: 'Start again' }).click()
        await brand.filter({ hasText: 'Fastify Modular' }).waitFor()
        await shows(t, () => banner.textContent(), '')
        await shows(t, () => page.getByLabel('Title').inputValue(), 'Fastify Modular')
        await shows(t, () => toggle.count(), 0)
      })

      await t.test('what others save meanwhile does not end what is tried', async (t) => {
        const admin = await host.signIn('admin')
        await page.getByLabel('Title').fill('Field Notes')
        const saved = { key: 'app.banner', scope: 1, value: 'From Ada' }
        t.equal((await admin.ask('/api/settings', { method: 'PUT', body: saved })).status, 204)
        await banner.filter({ hasText: 'From Ada' }).waitFor()
        t.equal(await brand.textContent(), 'Field Notes')
      })

      await t.test('to be saved it goes along in the fragment, and is shown once more', async (t) => {
        const sent: string[] = []
        page.on('request', (request) => sent.push(`${request.url()} ${request.postData() ?? ''}`))
        await page.getByRole('button', { name: 'Save for everybody…' }).click()
        await page.locator('[data-key="app.title"] input').waitFor()
        await page.getByText('1 unsaved change', { exact: true }).waitFor()
        await shows(t, () => page.locator('[data-key="app.title"] input').inputValue(), 'Field Notes')
        await brand.filter({ hasText: 'Field Notes' }).waitFor()
        t.equal(page.url(), `${host.url}/settings/manage`)
        t.notMatch(
          sent
            .filter((each) => each.startsWith(host.url))
            .join('\n')
            .replaceAll(/#\S*/g, ''),
          'Field',
        )
        t.notMatch((await host.anonymous.ask('/')).text, 'Field Notes')
        await page.getByRole('button', { name: /^Save 1 change/ }).click()
        await until(async () => (await host.anonymous.ask('/')).text.includes('Field Notes'))
      })
      t.same(complaints, [])
    },
  )

  await t.test(
    'a draft of an address is read by nobody but a page that says so, and never saved',
    async (t) => {
      await browser.clearCookies()
      const admin = await host.signIn('admin')
      await admin.enter(browser)
      const page = await browser.newPage()
      const complaints: string[] = []
      page.on('pageerror', ({ message }) => complaints.push(message))
      const open = async (fragment: string, path = '/settings/manage'): Promise<void> => {
        await page.goto('about:blank')
        await page.goto(`${host.url}${path}#draft=${fragment}`)
        await page.locator('[data-key]').first().waitFor()
      }
      const draft = (values: unknown): string => encodeURIComponent(JSON.stringify(values))

      for (const fragment of [
        '',
        '%',
        'null',
        draft('text'),
        draft([1, 2]),
        draft({ 'app.title': 7, 'app.banner': null }),
        draft({
          'system.maintenance_mode': 'true',
          'mail.host': 'evil',
          __proto__: 'x',
          'app.theme': 'dark',
        }),
        draft({ 'app.title': 'x'.repeat(2100) }),
      ]) {
        await open(fragment)
        await until(() => page.url() === `${host.url}/settings/manage`)
        t.equal(await page.getByText(/unsaved change/).count(), 0, fragment.slice(0, 80))
      }

      await t.test('its values are checked as if they were typed', async (t) => {
        await open(draft({ 'app.primary_color': 'red;}body{display:none' }))
        await page.getByText('1 unsaved change', { exact: true }).waitFor()
        await page.locator('[data-key="app.primary_color"] [aria-invalid=true]').waitFor()
        t.equal((await admin.ask('/api/settings/app.primary_color/resolved')).json, '#2f57dd')
      })

      await t.test('preferences take none', async (t) => {
        await open(draft({ 'app.title': 'Field Notes' }), '/settings/preferences')
        t.match(page.url(), '#draft=')
      })
      t.same(complaints, [])
    },
  )
})

test('the settings pages themselves read no draft from an address', async (t) => {
  const built = new URL('../../../settings-ui/dist/', import.meta.url)
  const names = (await readdir(built, { recursive: true })).filter((name) => name.endsWith('.js'))
  t.ok(names.length > 10)
  for (const name of names) t.notMatch(await readFile(new URL(name, built), 'utf8'), '#draft', name)
})

test('without demonstration accounts there is nothing to try, and no draft is taken', async (t) => {
  const host = await startHost(t, {
    TRUST_PROXY: 'loopback',
    HOST_ADMIN_PASSWORD: 'a password of the test',
    SESSION_SECRET: 'a secret of the test, thirty-two characters',
  })
  t.notMatch(
    (await host.anonymous.ask('/', { headers: { accept: 'text/html' } })).text,
    /demo-admin|Try it on/,
  )
  const admin = await host.signIn('admin', 'a password of the test')
  t.match(
    (await admin.ask('/settings/manage', { headers: { accept: 'text/html' } })).text,
    '"takesDrafts":false',
  )
})
