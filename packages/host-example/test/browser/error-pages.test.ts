/** Error pages as people see them, in the application's look and without it. */
import { readFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { testBrowser } from '@fastify-modular/test-support/browser'
import { test } from 'tap'
import { violationsOf } from '../axe.js'
import { startHost } from '../host.js'

/** The pages of last resort: this application's own, and the one that others get. */
const staticPages = [
  new URL('../../wwwroot/error.html', import.meta.url),
  new URL('../../../errors/assets/error.html', import.meta.url),
]
const looks = [
  { colorScheme: 'light', width: 1100 },
  { colorScheme: 'dark', width: 320 },
] as const

test('UI-34: every error page has its status, a title, one heading, and a way on', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const host = await startHost(t)
  const page = await browser.newPage()
  const alice = await host.signIn('alice')
  const [name = '', value = ''] = alice.cookie.split('=')
  await browser.addCookies([{ name, value, url: host.url }])
  const reference = page.getByText('name the reference')
  const expected = [
    ['/error/403', 403, 'Forbidden'],
    ['/error/404', 404, 'Not Found'],
    ['/error/500', 500, 'Internal Server Error'],
    ['/error/418', 418, "I'm a Teapot"],
    ['/nowhere', 404, 'Not Found'],
  ] as const

  for (const { colorScheme, width } of looks) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.setViewportSize({ width, height: 800 })
    for (const [path, status, title] of expected) {
      const answer = await page.goto(host.url + path)
      t.equal(answer?.status(), status, path)
      const heading = page.getByRole('heading', { level: 1 })
      await heading.waitFor()
      t.equal(await heading.count(), 1)
      t.equal(await heading.textContent(), title)
      t.match(await page.getByRole('main').textContent(), String(status))
      t.equal(await reference.isVisible(), status >= 500)
      t.ok(await page.getByRole('link', { name: 'Go to the home page' }).isVisible())
      t.same(await violationsOf(page), [], `${path}, ${colorScheme}, ${width} px`)
    }
  }
})

test('UI-34: the reference on a failed page is the one in the log; a visit gets a JSON page', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const host = await startHost(t)
  const page = await browser.newPage()
  await page.goto(`${host.url}/error/500`)
  const reference = (await page.locator('code').textContent()) ?? ''
  t.match(reference, /^[\w-]+$/)
  await host.printed(new RegExp(`"reqId":"${reference}"`))

  const alice = await host.signIn('alice')
  const visit = await alice.ask('/nowhere', {
    headers: { 'x-inertia': 'true', accept: 'text/html' },
  })
  t.equal(visit.status, 404)
  t.match(visit.json, { component: 'Error/404', props: { status: 404, title: 'Not Found' } })
})

test('UI-35: the static page needs nothing: no reference elsewhere, no script, and it is small', async (t) => {
  for (const file of staticPages) {
    const html = await readFile(file, 'utf8')
    t.ok(Buffer.byteLength(html) < 4096, `${file.pathname} is below 4 kB`)
    t.notMatch(html, /https?:|<script|<link|<img|\bsrc\s*=|\son\w+\s*=|@import|url\(/i)
    t.match(html, /<html lang="en">/)
    t.match(html, /name="robots" content="noindex"/)
  }
})

test('UI-35: axe-core finds nothing on the static page, light and dark, wide and narrow', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const page = await browser.newPage()
  for (const file of staticPages) {
    for (const { colorScheme, width } of looks) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.setViewportSize({ width, height: 800 })
      await page.goto(pathToFileURL(file.pathname).href)
      t.same(await violationsOf(page), [], `${file.pathname}, ${colorScheme}, ${width} px`)
      const overflow = await page.evaluate<number>(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      t.ok(overflow <= 0, 'it does not scroll sideways')
    }
  }
})
