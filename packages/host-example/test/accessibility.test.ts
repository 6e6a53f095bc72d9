/** Every page of the application, light and dark, on a desk, a tablet and a phone: axe-core finds nothing. */
import { test } from 'tap'
import { testBrowser } from '@fastify-modular/test-support/browser'
import { violationsOf } from './axe.js'
import { startHost } from './host.js'

const paths = [
  '/',
  '/login',
  '/notes',
  '/notes#new',
  '/mails',
  '/settings/manage',
  '/settings/preferences',
  '/api/docs',
  '/nope',
  '/error/500',
]

test('axe-core finds no violation on any page', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const host = await startHost(t)
  const admin = await host.signIn('admin')
  await admin.ask('/api/notes', { method: 'POST', body: { title: 'A note', body: 'With text' } })
  await admin.enter(browser)
  const page = await browser.newPage()

  for (const { colorScheme, forcedColors, width } of [
    { colorScheme: 'light', forcedColors: 'none', width: 1440 },
    { colorScheme: 'dark', forcedColors: 'none', width: 390 },
    { colorScheme: 'light', forcedColors: 'active', width: 820 },
    { colorScheme: 'dark', forcedColors: 'none', width: 320 },
  ] as const) {
    await page.emulateMedia({ colorScheme, forcedColors, reducedMotion: 'reduce' })
    await page.setViewportSize({ width, height: 800 })
    for (const path of paths) {
      await page.goto(host.url + path)
      await page.getByRole('heading', { level: 1, includeHidden: true }).waitFor()
      if (path.startsWith('/settings/')) await page.locator('[data-key]').first().waitFor()
      if (path === '/api/docs') await page.getByText('What the application has sent').waitFor()
      t.same(await violationsOf(page), [], `${path}, ${colorScheme}, ${width} px`)
      const overflow = await page.evaluate<number>(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      t.ok(overflow <= 0, `${path} does not scroll sideways at ${width} px`)
    }
  }
})
