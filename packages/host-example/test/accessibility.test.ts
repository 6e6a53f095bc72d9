/** Every page of the application, light and dark, wide and narrow: axe-core finds nothing. */
import { test } from 'tap'
import { testBrowser } from '@fastify-modular/test-support/browser'
import { violationsOf } from './axe.js'
import { startHost } from './host.js'

const paths = [
  '/',
  '/login',
  '/notes',
  '/mails',
  '/inertia/settings',
  '/inertia/preferences',
  '/nope',
  '/error/500',
]

test('axe-core finds no violation on any page', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const host = await startHost(t)
  const admin = await host.signIn('admin')
  await admin.ask('/api/notes', { method: 'POST', body: { title: 'A note', body: 'With text' } })
  const [name = '', value = ''] = admin.cookie.split('=')
  await browser.addCookies([{ name, value, url: host.url }])
  const page = await browser.newPage()

  for (const { colorScheme, width } of [
    { colorScheme: 'light', width: 1100 },
    { colorScheme: 'dark', width: 320 },
  ] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.setViewportSize({ width, height: 800 })
    for (const path of paths) {
      await page.goto(host.url + path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      if (path.startsWith('/inertia/')) await page.locator('[data-key]').first().waitFor()
      t.same(await violationsOf(page), [], `${path}, ${colorScheme}, ${width} px`)
      const overflow = await page.evaluate<number>(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      t.ok(overflow <= 0, `${path} does not scroll sideways at ${width} px`)
    }
  }
})
