import { test } from 'tap'
import { testBrowser } from '@fastify-modular/test-support/browser'
import type { Page } from 'playwright-core'
import { startHost } from './host.js'

const signIn = async (page: Page, name: string) => {
  await page.getByLabel('User name').fill(name)
  await page.getByLabel('Password', { exact: true }).fill(`demo-${name}`)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

test('people use it in a browser', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const host = await startHost(t)
  const page = await browser.newPage()
  const complaints: string[] = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))

  await t.test('UI-01: a page that needs a session leads through sign-in and back', async (t) => {
    await page.goto(`${host.url}/notes`)
    t.equal(new URL(page.url()).pathname, '/login')
    await signIn(page, 'alice')
    await page.waitForURL(`${host.url}/notes`)
    await page.getByRole('heading', { level: 1, name: 'Notes' }).waitFor()
    await page.waitForFunction("document.title === 'Notes · Fastify Modular'")
    t.pass()
  })

  await t.test('a change that comes too late is refused with a message, and the text is kept', async (t) => {
    const admin = await host.signIn('admin')
    await page.getByRole('button', { name: 'New note' }).click()
    await page.getByLabel('Title').fill('Contested')
    await page.getByRole('button', { name: 'Add note' }).click()
    await page.getByRole('button', { name: 'Contested', exact: true }).click()
    const [{ id }] = (await admin.ask('/api/notes')).json
    await admin.ask(`/api/notes/${id}`, { method: 'PATCH', body: { title: 'First' } })
    await page.getByLabel('Title').fill('Second')
    await page.getByRole('button', { name: 'Save' }).click()
    t.match(await page.getByRole('alert').textContent(), /changed meanwhile/)
    t.equal(await page.getByLabel('Title').inputValue(), 'Second')
    complaints.length = 0 // the browser reports the 409 itself
  })

  await t.test('UI-34: a page that does not exist, and an error page', async (t) => {
    await page.goto(`${host.url}/nowhere`)
    t.match(await page.getByRole('heading', { level: 1 }).textContent(), /off the map/)
    await page.goto(`${host.url}/error/403`)
    await page.getByRole('heading', { level: 1, name: 'This door needs another key' }).waitFor()
    complaints.length = 0 // the browser reports each status itself
  })

  await t.test('the theme follows the preference at once', async (t) => {
    await page.goto(host.url)
    t.equal(await page.locator('html').getAttribute('data-theme'), 'system')
    await page.request.put(`${host.url}/api/settings/me`, { data: { key: 'app.theme', value: 'dark' } })
    await page.reload()
    t.equal(await page.locator('html').getAttribute('data-theme'), 'dark')
  })

  await t.test('UI-24: nothing overflows on a narrow screen', async (t) => {
    await page.setViewportSize({ width: 320, height: 640 })
    for (const path of ['/', '/notes']) {
      await page.goto(host.url + path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      const overflow = await page.evaluate<number>(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      t.ok(overflow <= 0, `${path} is ${overflow} px too wide`)
    }
  })

  await t.test(
    'signing out ends on the home page, and going back shows nothing of the session',
    async (t) => {
      await page.goto(host.url)
      await page.getByRole('button', { name: 'Alice, your account' }).click()
      await page.getByRole('link', { name: 'Notes', exact: true }).first().click()
      await page.waitForURL(`${host.url}/notes`)
      await page.getByRole('button', { name: 'Alice, your account' }).click()
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.waitForURL(`${host.url}/`)
      await page.getByRole('link', { name: 'Sign in' }).first().waitFor()
      t.equal(await page.getByText('Alice').count(), 0)
      await page.goBack()
      await page.waitForURL(/\/login\?/)
      await page.goBack()
      await page.waitForURL(`${host.url}/`)
      await page.getByRole('link', { name: 'Sign in' }).first().waitFor()
      t.equal(await page.getByText('Alice').count(), 0)
    },
  )

  await t.test('the pages break no policy and throw nothing', (t) => {
    t.same(complaints, [])
    t.end()
  })
})
