import { test } from 'tap'
import { findBrowser, testBrowser } from '@fastify-modular/test-support/browser'
import { findFirefox } from '@fastify-modular/test-support/firefox'

test('a variable comes before an installed browser, and a wrong one is passed over', (t) => {
  const everything = (): boolean => true
  t.equal(findBrowser({ CHROME_PATH: '/opt/chrome' }, everything), '/opt/chrome')
  t.equal(findBrowser({ CHROME_PATH: '' }, everything), '/usr/bin/chromium')
  const installed = (path: unknown): boolean => String(path).startsWith('/usr/bin/')
  t.equal(findBrowser({ CHROME_PATH: '/gone' }, installed), '/usr/bin/chromium')
  t.equal(findFirefox({ FIREFOX_PATH: '/opt/firefox' }, everything), '/opt/firefox')
  t.end()
})

test('a failed test shows the requests and errors of its pages', async (t) => {
  const teardowns: (() => Promise<unknown>)[] = []
  const failed = {
    teardown: (run: () => Promise<unknown>) => void teardowns.unshift(run),
    plan: t.plan.bind(t),
    passing: () => false,
  }
  const browser = await testBrowser(failed)
  if (!browser) return
  const page = await browser.newPage()
  await page.goto('data:text/html,<script>console.error("the cause")</script>')
  const printed = t.capture(process.stderr, 'write')
  for (const run of teardowns) await run()
  t.match(printed()[0]?.args[0], /^\d+ console error the cause$/m)
})
