/** What somebody saves is seen in a second window without a reload. */
import { testBrowser } from '@fastify-modular/test-support/browser'
import { until } from '@fastify-modular/test-support/until'
import { test } from 'tap'
import { startHost } from '../host.js'

test('a second window', async (t) => {
  const context = await testBrowser(t)
  if (context === null) return
  const host = await startHost(t)
  const admin = await host.signIn('admin')

  await t.test(
    'title, banner, colour and maintenance are seen at once in windows that are open',
    async (t) => {
      const alice = await host.signIn('alice')
      const save = (key: string, scope: number, value: unknown) =>
        admin.ask('/api/settings', { method: 'PUT', body: { key, scope, value } })

      // Another browser, in which nobody is signed in.
      const second = await context.browser()?.newContext()
      t.ok(second)
      if (!second) return
      t.teardown(() => second.close())
      await alice.enter(context)
      const pages = [await context.newPage(), await second.newPage()]
      for (const page of pages) {
        await page.goto(host.url)
        await page.locator('.brand').waitFor()
        await page.evaluate("window.mark = 'not loaded again'")
      }

      await save('app.title', 1, 'Acme')
      for (const page of pages) {
        await page.locator('.brand', { hasText: 'Acme' }).waitFor()
        await until(async () => (await page.title()).endsWith('· Acme'))
      }
      await save('app.banner', 1, 'We move on Friday.')
      for (const page of pages) await page.locator('.banner', { hasText: 'We move on Friday.' }).waitFor()
      await save('app.primary_color', 1, '#b91c1c')
      const accent = "getComputedStyle(document.documentElement).getPropertyValue('--fm-accent')"
      for (const page of pages)
        await until(async () => (await page.evaluate<string>(accent)) === 'rgb(185, 28, 28)')
      await save('system.maintenance_mode', 0, true)
      for (const page of pages) await page.locator('.banner.is-warn').waitFor()
      await save('system.maintenance_mode', 0, false)
      for (const page of pages) await page.locator('.banner.is-warn').waitFor({ state: 'detached' })
      for (const page of pages) t.equal(await page.evaluate('window.mark'), 'not loaded again')
    },
  )

  await t.test(
    'a page has its first values and its name from the document, and opens one stream',
    async (t) => {
      const save = (value: string) =>
        admin.ask('/api/settings', { method: 'PUT', body: { key: 'app.title', scope: 1, value } })
      for (const person of [null, admin]) {
        await context.clearCookies()
        await person?.enter(context)
        const page = await context.newPage()
        const streams: string[] = []
        page.on('request', (request) => request.url().endsWith('/stream') && streams.push(request.url()))
        await save('First')
        await page.goto(host.url)
        const data = await page.locator('#settings-data').textContent()
        t.match(JSON.parse(data ?? ''), { caller: person ? 'admin' : null, values: { 'app.title': 'First' } })
        await page.locator('.brand', { hasText: 'First' }).waitFor()
        await save('Second')
        await page.locator('.brand', { hasText: 'Second' }).waitFor()
        t.equal(streams.length, 1, String(streams))
        await page.close()
      }
    },
  )
})
