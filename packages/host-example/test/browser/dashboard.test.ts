/** The home page of people who are signed in. */
import { testBrowser } from '@fastify-modular/test-support/browser'
import { shows } from '@fastify-modular/test-support/shows'
import { test } from 'tap'
import { startHost } from '../host.js'

test('the home page', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const host = await startHost(t)

  await t.test(
    'an administrator changes settings on the home page, sees them live, and undoes them',
    async (t) => {
      const admin = await host.signIn('admin')
      const editor = await host.signIn('editor')
      const bulk = (values: Record<string, unknown>) =>
        editor.ask('/api/settings/bulk', {
          method: 'PUT',
          body: Object.entries(values).map(([key, value]) => ({ key, scope: 1, value })),
        })
      t.equal((await bulk({ 'app.title': 'Acme', 'app.banner': 'Hello' })).status, 204)
      await admin.enter(browser)
      const page = await browser.newPage()
      await page.setViewportSize({ width: 1440, height: 1400 })
      const complaints: string[] = []
      page.on('pageerror', ({ message }) => complaints.push(message))
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
      await page.goto(host.url)
      const frame = page.frameLocator('iframe[title="The public page"]')

      await t.test('the public page is there as a stranger sees it', async (t) => {
        await frame.locator('.brand', { hasText: 'Acme' }).waitFor()
        await frame.getByRole('link', { name: 'Sign in', exact: true }).waitFor()
        t.equal(await frame.getByText('Ada, your account').count(), 0)
        const policies: Record<string, string> = {}
        for (const path of ['/', '/as-stranger', '/notes'])
          policies[path] = (await admin.ask(path)).headers.get('content-security-policy') ?? ''
        t.match(policies['/'], /frame-ancestors 'none'; frame-src 'self'$/)
        t.match(policies['/as-stranger'], /frame-ancestors 'self'$/)
        t.match(policies['/notes'], /frame-ancestors 'none'$/)
        t.notMatch((await host.anonymous.ask('/')).headers.get('content-security-policy'), 'frame-src')
        t.notMatch((await admin.ask('/as-stranger')).text, /"id":"admin"|Ada, your account/)
      })

      await t.test('a row is saved, the page and the frame follow, and a task is done', async (t) => {
        await page.getByText('0 of 3').waitFor()
        const color = page.locator('[data-key="app.primary_color"] input:not([type=color])')
        await color.fill('#0f766e')
        await page.getByRole('button', { name: /^Save 1 change/ }).click()
        await page.locator('link[href="/accent/0f766e.css"]').waitFor({ state: 'attached' })
        await frame.locator('link[href="/accent/0f766e.css"]').waitFor({ state: 'attached' })
        await page.getByText('1 of 3', { exact: true }).waitFor()
        await page.getByText('Ada changed Primary colour').waitFor()
        t.pass()
      })

      await t.test('a change set has one line and one Undo; what was put back is not listed', async (t) => {
        const line = page.locator('.lines li', { hasText: 'Eli changed 2 settings' })
        await line.getByText('Banner, Title').or(line.getByText('Title, Banner')).waitFor()
        await shows(t, () => line.getByRole('button').count(), 1)
        await line.getByRole('button', { name: /^Undo/ }).click()
        await page.getByText('2 settings are as they were').waitFor()
        await line.waitFor({ state: 'detached' })
        await page.locator('.brand', { hasText: 'Fastify Modular' }).waitFor()
        await frame.locator('.brand', { hasText: 'Fastify Modular' }).waitFor()
        t.equal((await admin.ask('/api/settings/app.banner/resolved')).json, null)
      })

      await t.test('what cannot be put back is said, and nothing is overwritten', async (t) => {
        t.equal((await bulk({ 'app.title': 'Acme', 'app.banner': 'Hello' })).status, 204)
        const line = page.locator('.lines li', { hasText: 'Eli changed 2 settings' })
        await line.waitFor()
        t.equal((await bulk({ 'app.banner': 'Later' })).status, 204)
        await page.locator('.banner', { hasText: 'Later' }).waitFor()
        await line.getByRole('button', { name: /^Undo/ }).click()
        await page.locator('.toast.is-bad').waitFor()
        t.equal((await admin.ask('/api/settings/app.title/resolved')).json, 'Acme')
        complaints.length = 0 // the browser reports the refusal
      })

      await t.test('tasks tick themselves, and the list goes with the third', async (t) => {
        const popup = page.waitForEvent('popup')
        await page.getByRole('link', { name: 'Watch it in a second window' }).click()
        await (await popup).locator('.brand').waitFor()
        await page.getByText('2 of 3', { exact: true }).waitFor()
        await (await popup).close()
        const undo = page.getByRole('button', { name: 'Undo the change to Primary colour' })
        await undo.click()
        await page.getByRole('heading', { name: 'Three things to do' }).waitFor({ state: 'detached' })
        await page.reload()
        await page.locator('[data-key="app.banner"]').waitFor()
        t.equal(await page.getByRole('heading', { name: 'Three things to do' }).count(), 0)
      })
      t.same(complaints, [])
    },
  )

  await t.test(
    'members have their own settings and notes there, and nothing of what others change',
    async (t) => {
      await browser.clearCookies()
      const alice = await host.signIn('alice')
      await alice.ask('/api/notes', {
        method: 'POST',
        body: { title: 'Questions for Thursday', body: 'x '.repeat(90) },
      })
      await alice.enter(browser)
      const page = await browser.newPage()
      await page.setViewportSize({ width: 320, height: 700 })
      await page.goto(host.url)
      await page.locator('[data-key="app.theme"]').waitFor()
      t.equal(await page.locator('[data-key="app.banner"], iframe').count(), 0)
      t.equal(await page.getByRole('heading', { name: 'What changed' }).count(), 0)

      await t.test('F14: the title of a note breaks between words, whatever is said of it', async (t) => {
        const title = page.getByRole('link', { name: 'Questions for Thursday' })
        const lines = await title.evaluate((link) => {
          const range = document.createRange()
          range.selectNodeContents(link)
          return new Set(Array.from(range.getClientRects(), ({ top }) => Math.round(top))).size
        })
        t.equal(lines, 1)
      })

      await t.test('a preference is saved at once, and the page follows', async (t) => {
        await page.locator('[data-key="app.theme"] input[value=dark]').check()
        await page.locator('html[data-theme=dark]').waitFor()
        await page.locator('[data-key="user.preferred_density"] input[value=compact]').check()
        await page.locator('html[data-density=compact]').waitFor()
        t.equal((await alice.ask('/api/settings/app.theme/resolved')).json, 'dark')
      })
    },
  )
})
