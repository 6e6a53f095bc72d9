/** A browser on the pages of a test host. */
import { testBrowser, type BrowserTest } from '@fastify-modular/test-support/browser'
import { SettingScope } from '@fastify-modular/settings'
import type { FastifyInstance } from 'fastify'
import type { BrowserContext, Page, Request } from 'playwright-core'
import { callers, type HostOptions, startHost } from './host.js'

export interface Visit {
  readonly app: FastifyInstance
  readonly url: string
  readonly browser: BrowserContext
  readonly page: Page
  /** What the browser complained about: errors on the console, refused scripts and styles. */
  readonly complaints: string[]
  /** Writes that the page made. */
  readonly writes: Request[]
  /** Questions of the browser, all answered with yes. */
  readonly warnings: string[]
  /** Signs in and opens a page with everything as it was at first. */
  open(path: string, user?: string): Promise<void>
  /** Loads the page again, and waits until it shows its settings. */
  reload(): Promise<void>
  /** The row of a setting. */
  row(key: string): ReturnType<Page['locator']>
}

/** Null where there is no browser; the test is skipped then. */
export async function visit(t: BrowserTest, options: HostOptions = {}): Promise<Visit | null> {
  const browser = await testBrowser(t)
  if (browser === null) return null
  const { url, app } = await startHost(t, options)
  const page = await browser.newPage()
  await page.emulateMedia({ reducedMotion: 'reduce' }) // what is looked at must not be half faded in
  const complaints: string[] = []
  const writes: Request[] = []
  const warnings: string[] = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('dialog', (dialog) => {
    warnings.push(dialog.type())
    void dialog.accept()
  })
  page.on('request', (request) => request.method() !== 'GET' && writes.push(request))

  await page.addInitScript(showMessagesLonger)

  /** The form is there when the settings are, and also when a search finds none; its rows listen after a frame. */
  const shown = async () => {
    await page.locator('main form').first().waitFor()
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))))
  }

  return {
    app,
    url,
    browser,
    page,
    complaints,
    writes,
    warnings,
    row: (key) => page.locator(`[data-key="${key}"]`),
    async open(path, user = 'ada') {
      await page.goto('about:blank')
      await resetAll(app)
      await browser.addCookies([{ name: 'user', value: user, url }])
      await page.goto(url + path)
      await shown()
      complaints.length = 0
      warnings.length = 0
      writes.length = 0
    },
    async reload() {
      await page.reload()
      await shown()
    },
  }
}

/** Not 4 or 10 s: a machine that stands still must not hide them. Tests that have the clock in hand see them go. */
function showMessagesLonger(): void {
  const { setInterval } = globalThis
  const longer = (run: () => void, ms?: number) =>
    setInterval(run, ms === 4000 || ms === 10_000 ? 60_000 : ms)
  Object.assign(globalThis, { setInterval: longer })
}

async function resetAll({ settings }: FastifyInstance): Promise<void> {
  const filters = [{}, ...Object.keys(callers).map((userId) => ({ scope: SettingScope.User, userId }))]
  for (const filter of filters) {
    for (const { key, scope, userId, isOverridden } of await settings.contract.getSettingValues(filter)) {
      if (isOverridden) await settings.contract.resetToDefault(key, scope, userId ?? undefined)
    }
  }
}
