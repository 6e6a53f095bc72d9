/** One tab, two people: what the first one saw is not the second one's to see. */
import { testBrowser } from '@fastify-modular/test-support/browser'
import { until } from '@fastify-modular/test-support/until'
import type { BrowserContext, Page } from 'playwright-core'
import { test } from 'tap'
import { startHost } from '../host.js'

const secret = 'Only Alice reads this'

/** How the tab of Alice comes to the form by which Bob signs in. */
const ways: Readonly<Record<string, (page: Page, url: string, browser: BrowserContext) => Promise<void>>> = {
  async 'she signs out'(page, url) {
    await page.getByRole('button', { name: 'Alice, your account' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Alice, your account' }).waitFor({ state: 'detached' })
    await page.goto(`${url}/login`)
  },
  async 'her session ends'(page, url, browser) {
    await browser.clearCookies()
    await page.goto(`${url}/login`)
  },
  async 'another account is chosen'(page, url) {
    await page.goto(`${url}/mails`)
    await page.getByRole('link', { name: 'Switch account' }).click()
  },
}

/** The driver refuses while one document takes the place of another one; mostly nothing has moved then. */
async function goBack(page: Page): Promise<void> {
  const from = page.url()
  const refused = (error: unknown): boolean => {
    if (!/Not attached to an active page|ERR_ABORTED/.test(String(error))) throw error
    return page.url() !== from
  }
  await until(() => page.goBack().then(() => true, refused))
}

for (const [way, leave] of Object.entries(ways)) {
  test(`Back shows Bob nothing of Alice, where ${way}`, async (t) => {
    const browser = await testBrowser(t)
    if (browser === null) return
    const host = await startHost(t)
    const alice = await host.signIn('alice')
    await alice.ask('/api/notes', { method: 'POST', body: { title: secret } })
    await alice.enter(browser)
    const page = await browser.newPage()
    let hasSeen = false
    let settled = 0
    await page.exposeFunction('seen', () => void (hasSeen = true))
    await page.exposeFunction('settled', () => void settled++)
    await page.addInitScript(`
      new MutationObserver(() => document.body?.textContent.includes(${JSON.stringify(secret)}) && window.seen())
        .observe(document, { childList: true, subtree: true, characterData: true })
      for (const event of ['navigate', 'finish']) document.addEventListener('inertia:' + event, () => window.settled())`)

    await page.goto(host.url)
    await page.getByRole('link', { name: 'All notes' }).click()
    await page.getByRole('heading', { name: secret }).waitFor()
    await until(() => hasSeen)
    await leave(page, host.url, browser)
    await page.getByLabel('User name').fill('bob')
    await page.getByLabel('Password', { exact: true }).fill('demo-bob')
    hasSeen = false
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('button', { name: 'Bob, your account' }).waitFor()

    for (const isForm = () => page.getByLabel('User name').isVisible(); ;) {
      const before = settled
      await goBack(page)
      if (page.url() === 'about:blank') break
      // The client has put its own page in place of the document's, or has asked for it anew; the form is not the client's.
      await until(async () => settled > before || (await isForm()))
    }
    t.notOk(hasSeen)
  })
}
