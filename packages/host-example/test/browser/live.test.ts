/** What reaches pages that are open. */
import { testBrowser } from '@fastify-modular/test-support/browser'
import { shows } from '@fastify-modular/test-support/shows'
import { test } from 'tap'
import { startHost } from '../host.js'

test('pages that are open', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const host = await startHost(t)

  await t.test('F2: own theme, density and language reach the other tab', async (t) => {
    const bob = await host.signIn('bob')
    await bob.enter(browser)
    const page = await browser.newPage()
    await page.goto(`${host.url}/notes`)
    await page.evaluate("window.mark = 'not loaded again'")
    const other = await browser.newPage()
    await other.goto(`${host.url}/settings/preferences`)
    await other.locator('[data-key="app.theme"] input[value=dark]').check()
    await other.locator('[data-key="user.preferred_density"] input[value=compact]').check()
    await other.locator('[data-key="app.language"] input[value=de]').check()
    await other.locator('html[lang=de]').waitFor()
    await page.bringToFront()
    await page.locator('html[lang=de][data-theme=dark][data-density=compact]').waitFor()
    await page.getByRole('heading', { level: 1, name: 'Notizen' }).waitFor()
    t.equal(await page.evaluate('window.mark'), 'not loaded again')
  })

  await t.test('F3: the page of maintenance gives way to what was asked for, once it is over', async (t) => {
    await browser.clearCookies()
    const admin = await host.signIn('admin')
    const alice = await host.signIn('alice')
    const setMode = (value: boolean) =>
      admin.ask('/api/settings', { method: 'PUT', body: { key: 'system.maintenance_mode', scope: 0, value } })
    await alice.enter(browser)
    const page = await browser.newPage()

    await setMode(true)
    await page.goto(`${host.url}/notes?q=bread`)
    await page.getByRole('heading', { name: 'Back in a moment' }).waitFor()
    await setMode(false)
    await page.getByRole('heading', { level: 1, name: 'Notes' }).waitFor()
    t.equal(page.url(), `${host.url}/notes?q=bread`)

    await t.test('without a stream it looks every half minute', async (t) => {
      await page.route('**/api/settings/**', (route) => route.abort())
      await page.clock.install()
      await setMode(true)
      await page.goto('about:blank')
      const isClientThere = page.waitForRequest('**/api/settings/**')
      await page.goto(`${host.url}/notes`)
      await page.getByRole('heading', { name: 'Back in a moment' }).waitFor()
      await isClientThere
      await page.clock.runFor(31_000)
      t.ok(await page.getByRole('heading', { name: 'Back in a moment' }).isVisible(), 'as long as it lasts')
      await setMode(false)
      await page.clock.runFor(31_000)
      await page.getByRole('heading', { level: 1, name: 'Notes' }).waitFor()
    })
  })

  await t.test('what somebody saves fades in, without motion for those who want none', async (t) => {
    await browser.clearCookies()
    const admin = await host.signIn('admin')
    const page = await browser.newPage()
    await page.addInitScript(`
    window.fades = 0
    const { startViewTransition } = Document.prototype
    Document.prototype.startViewTransition = function (...all) {
      window.fades++
      return startViewTransition.apply(this, all)
    }`)
    for (const [reducedMotion, fades] of [
      ['no-preference', 1],
      ['reduce', 0],
    ] as const) {
      await page.emulateMedia({ reducedMotion })
      await page.goto(host.url)
      const title = `Acme ${reducedMotion}`
      await admin.ask('/api/settings', { method: 'PUT', body: { key: 'app.title', scope: 1, value: title } })
      await page.locator('.brand', { hasText: title }).waitFor()
      await shows(t, () => page.evaluate('window.fades'), fades, reducedMotion)
      const name = "getComputedStyle(document.querySelector('.brand > span')).viewTransitionName"
      await shows(t, () => page.evaluate(name), fades ? 'title' : 'none')
      await shows(
        t,
        () => page.evaluate(name.replace('.brand > span', '.brand > .logo')),
        fades ? 'logo' : 'none',
      )
      await page.evaluate(`document.addEventListener('transitionrun', (event) => {
      if (event.propertyName === '--fm-accent') window.colours = true
    })`)
      const value = fades ? '#8b2a2a' : '#0f766e'
      await admin.ask('/api/settings', { method: 'PUT', body: { key: 'app.primary_color', scope: 1, value } })
      await page.waitForFunction(
        (wanted) => document.querySelector('#accent')?.getAttribute('href')?.includes(wanted),
        value.slice(1),
      )
      if (fades) await page.waitForFunction(() => Reflect.get(window, 'colours'))
      else t.equal(await page.evaluate('window.colours'), undefined, 'the colour changes at once')
    }
  })
})
