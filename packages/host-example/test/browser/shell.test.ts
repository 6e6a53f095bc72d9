/** What all pages have in common: how much they load, and what a finger can hit. */
import { testBrowser } from '@fastify-modular/test-support/browser'
import { until } from '@fastify-modular/test-support/until'
import { test } from 'tap'
import { startHost } from '../host.js'

test('all pages', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const host = await startHost(t)

  await t.test('home is loaded with 125 kB, before its settings and the public page within it', async (t) => {
    const admin = await host.signIn('admin')
    for (const person of [null, admin]) {
      await person?.enter(browser)
      const page = await browser.newPage()
      const devtools = await browser.newCDPSession(page)
      await devtools.send('Network.enable')
      await devtools.send('Network.setCacheDisabled', { cacheDisabled: true })
      await devtools.send('Page.enable')
      let bytes = 0
      let atLoad = 0
      devtools.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength))
      devtools.on('Page.loadEventFired', () => (atLoad ||= bytes))
      await page.goto(host.url, { waitUntil: 'load' })
      await until(() => atLoad > 0)
      t.ok(atLoad <= 125_000, `${atLoad} bytes`)
      if (person) await page.locator('[data-key="app.banner"]').waitFor()
      t.comment(`${atLoad} bytes, ${bytes} with what follows`)
      await page.close()
    }
  })

  await t.test('with a finger: what one touches is 44 px high and wide', async (t) => {
    await browser.clearCookies()
    const admin = await host.signIn('admin')
    for (const body of [
      { key: 'app.homepage_url', scope: 1, value: 'https://acme.example' },
      { key: 'app.support_email', scope: 1, value: 'help@acme.example' },
    ])
      await admin.ask('/api/settings', { method: 'PUT', body })
    await admin.ask('/api/notes', { method: 'POST', body: { title: 'A note', body: 'Text' } })
    const page = await browser.newPage()
    const devtools = await browser.newCDPSession(page)
    await devtools.send('Emulation.setTouchEmulationEnabled', { enabled: true })
    await page.setViewportSize({ width: 390, height: 844 })
    const small = () =>
      page.locator('a:visible, button:visible, select:visible, input:visible').evaluateAll((all) =>
        all.flatMap((each) => {
          const target = each.closest('label') ?? each.closest('.field, .fm-field') ?? each
          const { width, height } = target.getBoundingClientRect()
          // Links within a sentence are as high as its line, and what is drawn over another element covers it.
          const isInline =
            getComputedStyle(each).display === 'inline' && each.parentElement?.matches('p, b, li, span')
          const isUnseen = width <= 1 || each.matches('.cover, .fm-link.is-name, [role=switch]')
          return isInline || isUnseen || (height >= 44 && width >= 44)
            ? []
            : [`${each.textContent.trim() || each.getAttribute('aria-label')}: ${width} × ${height}`]
        }),
      )
    for (const [person, path] of [
      [null, '/'],
      [null, '/login'],
      ['admin', '/'],
      ['admin', '/notes'],
      ['admin', '/error/403'],
      ['admin', '/settings/manage?group=contact'],
      ['admin', '/settings/preferences'],
    ] as const) {
      await browser.clearCookies()
      if (person !== null) await admin.enter(browser)
      await page.goto(host.url + path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      if (path.includes('settings')) await page.locator('[data-key]').first().waitFor()
      t.same(await small(), [], `${person} ${path}`)
    }
  })
})
