import { test } from 'tap'
import { findBrowser, testBrowser } from '@fastify-modular/test-support/browser'
import { findFirefox } from '@fastify-modular/test-support/firefox'
import { shows } from '@fastify-modular/test-support/shows'

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

test('what a page shows is awaited; what it never shows fails at the line that asked', async (t) => {
  const answers = ['', 'Saving…', 'Saved']
  await shows(t, async () => answers.shift(), 'Saved')
  await shows(t, async () => 'Saved at 12:00', /at \d/)
  let now = 0
  t.intercept(Date, 'now', { value: () => (now += 20_000) })
  const failures: unknown[][] = []
  const failing = { match: t.match.bind(t), strictSame: (...all: unknown[]) => failures.push(all) }
  await shows(failing, async () => 'Not saved', 'Saved', 'a sentence')
  t.match(failures, [['Not saved', 'Saved', 'a sentence', { stack: /^ +at .*browser\.test\.[jt]s/ }]])
})
