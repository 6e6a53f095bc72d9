/** What an administrator tries shows in the frame around the settings, and to nobody else. */
import { testBrowser } from '@fastify-modular/test-support/browser'
import { shows } from '@fastify-modular/test-support/shows'
import { until } from '@fastify-modular/test-support/until'
import { test } from 'tap'
import { startHost } from '../host.js'

test('a draft shows in the page itself, to its author alone', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const host = await startHost(t)
  await (await host.signIn('admin')).enter(browser)
  const page = await browser.newPage()
  const complaints: string[] = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  const field = (name: string) => page.getByLabel(name, { exact: true })
  const toggle = page.locator('.fm-bar .fm-try')
  const brand = page.locator('.brand')
  const html = page.locator('html')
  const color = () => brand.locator('.tile').evaluate((tile) => getComputedStyle(tile).fill)

  await t.test('title, accent, banner, theme and density; the toggle; Discard', async (t) => {
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
    await page.goto(`${host.url}/settings/manage`)
    await field('Title').waitFor()
    const before = await color()
    const height = async () => (await page.locator('.top').boundingBox())?.height
    const usual = await height()
    await field('Title').fill('A title that is longer than any header '.repeat(5))
    await brand.filter({ hasText: 'longer than any header' }).waitFor()
    t.equal(await height(), usual)
    await field('Title').fill('Field Notes')
    await brand.filter({ hasText: 'Field Notes' }).waitFor()
    await field('Primary colour').fill('#c8632b')
    await until(async () => (await color()) === 'rgb(168, 83, 36)')
    await field('Banner').fill('Closed on Thursday')
    await page.locator('.banner', { hasText: 'Closed on Thursday' }).waitFor()
    await page.locator('[data-key="app.theme"] input[value=dark]').check()
    await page.locator('html[data-theme=dark]').waitFor()
    // The shade of the scheme that is shown, whatever the device prefers.
    await page.locator('.fm-note', { hasText: '#d9926b' }).waitFor()
    await page.locator('[data-key="user.preferred_density"] input[value=compact]').check()
    await page.locator('html[data-density=compact]').waitFor()
    await shows(t, () => toggle.textContent(), 'Preview · only you see this')

    await toggle.focus()
    await page.keyboard.press('Enter')
    await page.locator('html[data-theme=system][data-density=comfortable]').waitFor()
    await shows(t, () => toggle.getAttribute('aria-pressed'), 'false')
    await brand.filter({ hasNotText: 'Field Notes' }).waitFor()
    await shows(t, () => page.locator('.banner').last().textContent(), '')
    await shows(t, color, before)
    await page.keyboard.press('Space')
    await brand.filter({ hasText: 'Field Notes' }).waitFor()

    const { text } = await host.anonymous.ask('/login')
    t.notMatch(text, /Field Notes|Closed on Thursday|c8632b/i, 'others see nothing of it')
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.locator('html[data-theme=system][data-density=comfortable]').waitFor()
    await brand.filter({ hasNotText: 'Field Notes' }).waitFor()
    await shows(t, () => toggle.count(), 0)

    const body = { key: 'app.banner', scope: 1, value: 'The winter issue' }
    await (await host.signIn('admin')).ask('/api/settings', { method: 'PUT', body })
    const banner = page.locator('.banner').last()
    await banner.filter({ hasText: 'The winter issue' }).waitFor()
    await page.reload()
    await until(async () => (await field('Banner').inputValue()) === 'The winter issue')
    await field('Banner').fill('')
    await banner.filter({ hasNotText: 'The winter issue' }).waitFor({ state: 'attached' })
    await page.getByRole('button', { name: 'Discard' }).click()
    await banner.filter({ hasText: 'The winter issue' }).waitFor()
    t.same(complaints, [])
  })

  await t.test(
    'what is typed as soon as there is a field shows, however late the page around it wakes',
    async () => {
      await page.route('**/static/client-*.js', (route) => setTimeout(() => void route.continue(), 1000))
      await page.goto(`${host.url}/settings/manage`, { waitUntil: 'commit' })
      await field('Title').fill('Early Notes')
      await brand.filter({ hasText: 'Early Notes' }).waitFor()
      await page.unroute('**/static/client-*.js')
      await page.getByRole('button', { name: 'Discard' }).click()
    },
  )

  await t.test('what is tried is gone with the page that was left', async (t) => {
    await page.goto(`${host.url}/settings/manage`)
    await field('Title').fill('Field Notes')
    await field('Logo').selectOption('wave')
    await brand.filter({ hasText: 'Field Notes' }).waitFor()
    await page.locator('.brand .line').first().waitFor()
    await page.locator('.top nav').getByRole('link', { name: 'Notes' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
    await page.waitForURL(`${host.url}/notes`)
    await brand.filter({ hasNotText: 'Field Notes' }).waitFor()
    await shows(t, () => page.locator('.brand .line').count(), 0)
    await shows(t, () => html.getAttribute('data-theme'), 'system')
  })
})
