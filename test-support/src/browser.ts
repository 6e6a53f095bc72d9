/** A real Chromium for tests of pages. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, BrowserContext, BrowserType, LaunchOptions } from 'playwright-core'
import type { Teardown } from './postgres.ts'
import { type SharedServer, sharedServer } from './shared-servers.ts'

/** Node reads an imported CommonJS module twice, at first for its names; this one has 3.6 MB, which takes 0.14 s of CPU. */
const { chromium }: { chromium: BrowserType } = createRequire(import.meta.url)('playwright-core')

/** What a test hands over so that its browser goes with it, and so that it can be skipped; tap's `t` is one. */
export interface BrowserTest extends Teardown {
  plan(count: 0, reason: string): unknown
  /** Whether nothing has failed so far. */
  passing?(): boolean
}

export interface BrowserOptions {
  /** Whether nothing is shared with tests that run beside this one, the clipboard neither. @default false */
  readonly isOwn?: boolean
  /** Whether pages are kept as they are for the button "Back", as browsers of people do; such a browser is not shared. @default false */
  readonly keepsPages?: boolean
}

/** Milliseconds: longer than a busy machine takes to start a browser, and to show what a test waits for. */
const patience = 120_000

/** Where distributions put it. */
const installed = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/**
 * The suggestions below the address line are pages, which every window loads: a third of the CPU time of a start. A spare renderer is
 * of no use to the next profile, which gets another. The others are Playwright's, whose list this one replaces.
 */
const unwanted = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'SpareRendererForSitePerProcess',
  'TcpPortRandomizationWin',
  'ThirdPartyStoragePartitioning',
]

/** A browser in a test connects to the page under test only; in a closed network every other attempt costs time. */
const quiet = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--disable-features=${unwanted.join(',')}`,
]

const howToInstall =
  'No Chromium was found. Install one (Debian: apt-get install chromium) or set CHROME_PATH to its program.'

/** Returns the browser's program: `CHROME_PATH`, else an installed Chromium or Chrome; null when there is none. */
export function findBrowser(env: NodeJS.ProcessEnv = process.env, exists = existsSync): string | null {
  return [env['CHROME_PATH'], ...installed].find((path) => path && exists(path)) ?? null
}

/**
 * Opens a profile of its own, which is empty, in the browser that a test run shares, or else in one of this test. It is closed
 * when the test ends. Without a browser the test is skipped and null returned; with `REQUIRE_BROWSER=1` that is a failure.
 * @throws {Error} when a browser is required and none is found
 */
export async function testBrowser(
  t: BrowserTest,
  options: BrowserOptions = {},
): Promise<BrowserContext | null> {
  const executablePath = findBrowser()
  if (executablePath !== null) return openContext(t, await openBrowser(t, executablePath, options))
  if (process.env['REQUIRE_BROWSER'] === '1') throw new Error(howToInstall)
  t.plan(0, howToInstall)
  return null
}

/** Starts a browser that several processes open profiles in. It ends with this process. @throws {Error} when none is found */
export async function startBrowser(): Promise<SharedServer> {
  const executablePath = findBrowser()
  if (executablePath === null) throw new Error(howToInstall)
  const server = await chromium.launchServer({
    ...launchOptions(executablePath),
    host: '127.0.0.1',
    handleSIGINT: false, // this process decides what such a signal ends
    handleSIGTERM: false,
    handleSIGHUP: false,
  })
  const ended = new Promise<void>((resolve) => server.on('close', () => resolve()))
  return { url: server.wsEndpoint(), ended, stop: () => server.close() }
}

async function openBrowser(
  t: BrowserTest,
  executablePath: string,
  { isOwn = false, keepsPages = false }: BrowserOptions,
): Promise<Browser> {
  const url = isOwn || keepsPages ? undefined : await sharedServer('browser')
  const browser =
    url === undefined
      ? await chromium.launch(launchOptions(executablePath, keepsPages))
      : await chromium.connect(url, { timeout: patience })
  t.teardown(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()))
    await browser.close() // a shared one goes on
  })
  return browser
}

function launchOptions(executablePath: string, keepsPages = false): LaunchOptions {
  const isRoot = process.getuid?.() === 0 // root has no user namespace to build Chromium's sandbox in
  return {
    executablePath,
    timeout: patience,
    ignoreDefaultArgs: keepsPages ? ['--disable-back-forward-cache'] : [],
    args: [...quiet, ...(isRoot ? ['--no-sandbox'] : [])],
  }
}

async function openContext(t: BrowserTest, browser: Browser): Promise<BrowserContext> {
  const context = await browser.newContext()
  context.setDefaultTimeout(patience)
  const events = record(context)
  t.teardown(async () => {
    if (t.passing?.() === false) process.stderr.write(['What the browser did:', ...events, ''].join('\n'))
  })
  return context
}

/** How many of the last events a failed test shows. */
const shownEvents = 300

/** Requests, answers and errors as they happen, with the milliseconds since the start: a failure tells what led to it. */
function record(context: BrowserContext): readonly string[] {
  const start = Date.now()
  const events: string[] = []
  const add = (text: string): void => {
    events.push(`${Date.now() - start} ${text.slice(0, 300)}`)
    if (events.length > shownEvents) events.shift()
  }
  context.on('request', (request) => add(`> ${request.method()} ${request.url()}`))
  context.on('response', (response) => add(`< ${response.status()} ${response.url()}`))
  context.on('requestfailed', (request) => add(`failed ${request.url()} ${request.failure()?.errorText}`))
  context.on('console', (message) => add(`console ${message.type()} ${message.text()}`))
  context.on('weberror', (error) => add(`error ${error.error().message}`))
  return events
}
