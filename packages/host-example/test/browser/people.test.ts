/** People have names and faces wherever they stand, and only where somebody may know them. */
import { testBrowser } from '@fastify-modular/test-support/browser'
import { shows } from '@fastify-modular/test-support/shows'
import { until } from '@fastify-modular/test-support/until'
import { test } from 'tap'
import { startHost } from '../host.js'

test('people on all pages', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const host = await startHost(t)

  await t.test('F11: notes and mail name their owners, to administrators alone', async (t) => {
    const admin = await host.signIn('admin')
    const alice = await host.signIn('alice')
    const { id } = (await alice.ask('/api/notes', { method: 'POST', body: { title: 'Bread' } })).json
    await alice.ask(`/api/notes/${id}/share`, { method: 'POST' })
    await until(async () => (await admin.ask('/api/mails')).json.length === 1)
    await admin.enter(browser)
    const page = await browser.newPage()

    await page.goto(`${host.url}/notes`)
    await page.locator('.note .person', { hasText: 'Alice' }).waitFor()
    await shows(t, () => page.locator('.note .face').textContent(), 'AL')
    t.equal(await page.locator('.note').getByText('alice', { exact: true }).count(), 0)
    await page.goto(`${host.url}/mails`)
    await page.getByText('To Alice').waitFor()
    await shows(t, () => page.locator('li', { hasText: 'To Alice' }).locator('.face').textContent(), 'AL')

    const { text } = await alice.ask('/notes', { headers: { accept: 'text/html' } })
    t.match(text, '"people":{"alice":"Alice"}')
    t.notMatch(text, 'Eli')
  })

  await t.test('F15: headings of all pages have one size, and stand at one height', async (t) => {
    await browser.clearCookies()
    await (await host.signIn('admin')).enter(browser)
    const page = await browser.newPage()
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 })
      const found = new Set<string>()
      const tops: number[] = []
      for (const path of [
        '/',
        '/notes',
        '/mails',
        '/settings/manage',
        '/settings/preferences',
        '/api/docs',
      ]) {
        await page.goto(host.url + path)
        const heading = page.getByRole('heading', { level: 1 })
        await heading.waitFor()
        const { top, size } = await heading.evaluate((h1) => {
          const { top } = h1.getBoundingClientRect()
          return { top, size: getComputedStyle(h1).fontSize }
        })
        t.comment(`${width} ${path} ${size} ${top}`)
        found.add(size)
        tops.push(top)
      }
      t.equal(found.size, 1, [...found].join(' '))
      t.ok(Math.max(...tops) - Math.min(...tops) <= 4, tops.join(' '))
    }
  })

  await t.test('F10: a person has one colour on all pages', async (t) => {
    await browser.clearCookies()
    const admin = await host.signIn('admin')
    await admin.ask('/api/settings', { method: 'PUT', body: { key: 'app.banner', scope: 1, value: 'Hello' } })
    await admin.enter(browser)
    const page = await browser.newPage()
    await page.goto(`${host.url}/settings/manage?view=activity`)
    const looks: unknown[] = []
    for (const face of [
      page.locator('.me .face'),
      page.locator('.fm-event .fm-face, .fm-lines .fm-face').first(),
    ]) {
      await face.waitFor()
      looks.push(
        await face.evaluate((each) => {
          const { color, backgroundColor } = getComputedStyle(each)
          return { color, backgroundColor, hue: each.getAttribute('data-hue'), text: each.textContent }
        }),
      )
    }
    t.same(looks[0], looks[1])
  })
})
