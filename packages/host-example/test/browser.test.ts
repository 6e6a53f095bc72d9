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

  await t.test('so it does before the scripts of the pages that follow have run', async (t) => {
    const page = await browser.newPage() // one that may complain of missing scripts
    await page.goto(`${host.url}/login`)
    await signIn(page, 'alice')
    await page.waitForURL(`${host.url}/`)
    const account = page.getByRole('button', { name: 'Alice, your account' })
    await account.click()
    await page.getByRole('link', { name: 'Notes', exact: true }).first().click()
    await page.waitForURL(`${host.url}/notes`)
    await account.click()
    const scripts = /\/static\/.*\.js$/
    await page.route(scripts, (route) => route.abort())
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(`${host.url}/`)
    await page.goBack({ waitUntil: 'domcontentloaded' })
    await page.waitForURL(/\/login\?/)
    await page.unroute(scripts)
    const settled = page.waitForResponse(`${host.url}/api/settings/public/stream`)
    await page.goBack()
    await settled
    await page.getByRole('link', { name: 'Sign in' }).first().waitFor()
    t.equal(await page.getByText('Alice').count(), 0)
  })

  await t.test('the pages break no policy and throw nothing', (t) => {
    t.same(complaints, [])
    t.end()
  })
})
