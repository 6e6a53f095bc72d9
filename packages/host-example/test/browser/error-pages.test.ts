/** Error pages as people see them, in the application's look and without it. */
import { readFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { testBrowser } from '@fastify-modular/test-support/browser'
import { shows } from '@fastify-modular/test-support/shows'
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

/** What each page says; a status without words of its own has those of its problem. */
const pages = [
  ['/error/403', 403, 'This door needs another key', 'Switch account'],
  ['/error/404', 404, 'You’ve walked off the map', 'Go to your notes'],
  ['/error/410', 410, 'Gone', 'Go to your notes'],
  ['/error/429', 429, 'A little slower, please', 'Try again'],
  ['/error/500', 500, 'We dropped something', 'Try again'],
  ['/error/503', 503, 'Back in a moment', 'Try again'],
  ['/mails', 403, 'This door needs another key', 'Switch account'],
  ['/nowhere', 404, 'You’ve walked off the map', 'Go to your notes'],
] as const

test('error pages in a browser', async (t) => {
  const browser = await testBrowser(t, { isOwn: true }) // the clipboard belongs to all of a browser
  if (browser === null) return
  const host = await startHost(t)
  const page = await browser.newPage()

  await t.test(
    'UI-35: axe-core finds nothing on the static page, light and dark, wide and narrow',
    async (t) => {
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
    },
  )

  await t.test('UI-34: the reference on a failed page is the one in the log and can be copied', async (t) => {
    await browser.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: host.url })
    await page.goto(`${host.url}/error/500`)
    const reference = (await page.locator('code').textContent()) ?? ''
    t.match(reference, /^[\w-]+$/)
    await host.printed(new RegExp(`"reqId":"${reference}"`))
    await page.getByRole('button', { name: 'Copy the reference' }).click()
    await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor({ state: 'attached' })
    await shows(t, () => page.evaluate('navigator.clipboard.readText()'), reference)
  })

  const alice = await host.signIn('alice')
  await alice.enter(browser)

  await t.test('F-40: from the page of a missing address people go on to their notes', async (t) => {
    await page.goto(`${host.url}/nowhere`)
    await page.getByRole('link', { name: 'Go to your notes' }).click()
    await page.waitForURL(`${host.url}/notes`)
    t.pass()
  })

  await t.test('a failed visit within the pages keeps user and navigation, too', async (t) => {
    await page.route('**/notes', (route) => route.continue({ url: `${host.url}/error/403` }))
    await page.goto(host.url)
    await page.getByRole('link', { name: 'All notes' }).click()
    await page.getByText('signed in as Alice').waitFor()
    await page.getByRole('button', { name: 'Alice, your account' }).waitFor()
    await page.unrouteAll()
    await page.getByRole('link', { name: 'Switch account' }).click()
    await page.waitForURL(/\/login$/)
    await shows(t, () => page.getByRole('button', { name: 'Sign in', exact: true }).isVisible(), true)
  })

  await t.test(
    'UI-34: every error page has its status, one heading, a next step, and keeps user, look and navigation',
    async (t) => {
      await alice.ask('/api/settings/me', { method: 'PUT', body: { key: 'app.theme', value: 'dark' } })

      for (const width of [1440, 820, 390]) {
        await page.emulateMedia({ reducedMotion: 'reduce', forcedColors: width === 820 ? 'active' : 'none' })
        await page.setViewportSize({ width, height: 844 })
        for (const [path, status, heading, step] of pages) {
          const answer = await page.goto(host.url + path)
          t.equal(answer?.status(), path.startsWith('/error/5') ? 200 : status, path)
          await page.getByRole('heading', { level: 1, name: heading }).waitFor()
          await shows(t, () => page.getByRole('heading', { level: 1 }).count(), 1)
          await shows(t, () => page.getByRole('main').textContent(), new RegExp(String(status)))
          await shows(t, () => page.getByText('Reference', { exact: true }).isVisible(), status >= 500)
          await shows(t, () => page.getByRole('link', { name: step }).isVisible(), true)
          await shows(t, () => page.getByRole('link', { name: 'Home', exact: true }).isVisible(), true)
          await shows(t, () => page.getByRole('button', { name: 'Alice, your account' }).isVisible(), true)
          await shows(t, () => page.locator('html').getAttribute('data-theme'), 'dark')
          t.same(await violationsOf(page), [], `${path}, ${width} px`)
        }
      }
    },
  )
})

test('a visit of Inertia to a missing address gets the page of the error', async (t) => {
  const host = await startHost(t)
  const alice = await host.signIn('alice')
  const { text } = await alice.ask('/', { headers: { accept: 'text/html' } })
  const version = /"version":"([^"]+)"/.exec(text)?.[1] ?? ''
  const visit = await alice.ask('/nowhere', {
    headers: { 'x-inertia': 'true', 'x-inertia-version': version, accept: 'text/html' },
  })
  t.equal(visit.status, 404)
  t.match(visit.json, { component: 'Error/404', props: { status: 404, title: 'Not Found' } })
})

test('F-43: without JavaScript error pages and others are complete', async (t) => {
  const host = await startHost(t)
  const alice = await host.signIn('alice')
  await alice.ask('/api/notes', { method: 'POST', body: { title: 'Read without a script' } })
  const read = async (path: string): Promise<string> => {
    const { text } = await alice.ask(path, { headers: { accept: 'text/html', 'sec-fetch-mode': 'navigate' } })
    return /data-server-rendered="true"[^]*/.exec(text)?.[0] ?? ''
  }
  for (const [path, status, heading] of pages.filter(([path]) => path !== '/mails')) {
    const text = await read(path)
    t.match(text, `<h1>${heading}</h1>`, path)
    t.match(text, `Error ${status}`)
    t.match(text, 'Alice, your account')
    t.equal(/<code>req-\w+<\/code>/.test(text), status >= 500)
  }
  for (const path of ['/', '/notes']) t.match(await read(path), 'Read without a script')
  for (const path of ['/settings/preferences', '/api/docs']) t.match(await read(path), 'needs JavaScript')
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
