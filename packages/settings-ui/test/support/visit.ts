/** A browser on the pages of a test host. */
import { testBrowser, type BrowserTest } from '@fastify-modular/test-support/browser'
import { SettingScope } from '@fastify-modular/settings'
import type { FastifyInstance } from 'fastify'
import type { BrowserContext, Locator, Page, Request, ViewportSize } from 'playwright-core'
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
  /** Signs in and opens a page with everything as it was at first: in a window of a desktop, light and English, unless this says otherwise. */
  open(path: string, user?: string, window?: Window): Promise<void>
  /** Opens a page, and waits until it follows what others save. */
  openLive(...opening: Parameters<Visit['open']>): Promise<void>
  /** Loads the page again, and waits until it shows its settings. */
  reload(): Promise<void>
  /** The row of a setting. */
  row(key: string): Locator
  /** The control of a setting, by its name. */
  field(name: string): Locator
  /** What is read out. */
  readonly status: Locator
  readonly bar: Locator
  /** The button that saves. */
  readonly save: Locator
}

interface Window {
  readonly size?: ViewportSize
  readonly colorScheme?: 'light' | 'dark'
  readonly language?: string
}

const desktop = { width: 1280, height: 800 }
export const phone = { width: 390, height: 844 }

/** Null where there is no browser; the test is skipped then. */
export async function visit(t: BrowserTest, options: HostOptions = {}): Promise<Visit | null> {
  const browser = await testBrowser(t)
  if (browser === null) return null
  const { url, app } = await startHost(t, options)
  const page = await browser.newPage()
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

  /** The form is there when the settings are, and also when a search finds none; its rows listen after a frame. */
  const shown = async () => {
    await page.locator('main form').first().waitFor()
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))))
  }

  const open: Visit['open'] = async (
    path,
    user = 'ada',
    { size = desktop, colorScheme = 'light', language } = {},
  ) => {
    await leave(page)
    await resetAll(app)
    await page.setViewportSize(size)
    await page.setExtraHTTPHeaders(language === undefined ? {} : { 'accept-language': language })
    // What is looked at must not be half faded in.
    await page.emulateMedia({ colorScheme, media: null, forcedColors: null, reducedMotion: 'reduce' })
    await browser.addCookies([{ name: 'user', value: user, url }])
    await page.goto(url + path)
    await shown()
    complaints.length = 0
    warnings.length = 0
    writes.length = 0
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
    field: (name) => page.getByLabel(name, { exact: true }),
    status: page.getByRole('status'),
    bar: page.locator('.fm-bar'),
    save: page.getByRole('button', { name: /^Save (\d|again)/ }),
    open,
    async openLive(...opening) {
      await follow(page, () => open(...opening))
    },
    async reload() {
      await page.reload()
      await shown()
    },
  }
}

/** Leaves a page. It may be asking for something still, which is not to be counted as the next one's. */
export const leave = (page: Page) => page.goto('about:blank')

/** Goes to another page, and waits until its stream is open. */
export async function follow(page: Page, go: () => Promise<unknown>): Promise<void> {
  await leave(page)
  const stream = page.waitForResponse('**/api/settings/stream')
  await go()
  await stream
}

async function resetAll({ settings }: FastifyInstance): Promise<void> {
  const filters = [{}, ...Object.keys(callers).map((userId) => ({ scope: SettingScope.User, userId }))]
  for (const filter of filters) {
    for (const { key, scope, userId, isOverridden } of await settings.contract.getSettingValues(filter)) {
      if (isOverridden) await settings.contract.resetToDefault(key, scope, userId ?? undefined)
    }
  }
}
