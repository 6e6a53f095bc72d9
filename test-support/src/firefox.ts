/** A real Firefox for a walk through pages, over WebDriver BiDi. */
import { existsSync } from 'node:fs'
import { type Browser, launch } from 'puppeteer-core'
import type { BrowserTest } from './browser.ts'

const installed = [
  '/usr/bin/firefox-esr',
  '/usr/bin/firefox',
  '/Applications/Firefox.app/Contents/MacOS/firefox',
]

const howToInstall =
  'No Firefox was found. Install one (Debian: apt-get install firefox-esr) or set FIREFOX_PATH to its program.'

/** Returns the program: `FIREFOX_PATH`, else an installed Firefox; null when there is none. */
export function findFirefox(env: NodeJS.ProcessEnv = process.env, exists = existsSync): string | null {
  return [env['FIREFOX_PATH'], ...installed].find((path) => path && exists(path)) ?? null
}

/** Launches a Firefox with an empty profile, which ends with the test. Null where there is none: the test is skipped then. */
export async function testFirefox(t: BrowserTest): Promise<Browser | null> {
  const executablePath = findFirefox()
  if (executablePath === null) {
    t.plan(0, howToInstall)
    return null
  }
  const browser = await launch({
    browser: 'firefox',
    executablePath,
    headless: true,
    defaultViewport: null, // this version cannot set one
    args: ['--width=1280', '--height=900'],
    timeout: 120_000,
    protocolTimeout: 120_000,
  })
  t.teardown(() => browser.close())
  return browser
}
