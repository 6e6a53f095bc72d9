import { createServer } from 'node:http'
import { test } from 'tap'
import { findBrowser, testBrowser } from '@fastify-modular/test-support/browser'
import { listen } from '@fastify-modular/test-support/free-port'
import { findFirefox, testFirefox } from '@fastify-modular/test-support/firefox'

test('a variable comes before an installed browser, and a wrong one is passed over', (t) => {
  const everything = (): boolean => true
  t.equal(findBrowser({ CHROME_PATH: '/opt/chrome' }, everything), '/opt/chrome')
  t.equal(findBrowser({ CHROME_PATH: '' }, everything), '/usr/bin/chromium')
  const installed = (path: unknown): boolean => String(path).startsWith('/usr/bin/')
  t.equal(findBrowser({ CHROME_PATH: '/gone' }, installed), '/usr/bin/chromium')
  t.equal(findFirefox({ FIREFOX_PATH: '/opt/firefox' }, everything), '/opt/firefox')
  t.end()
})

test('without a Firefox a test is skipped', async (t) => {
  let reason = ''
  const skipped = { plan: (_count: 0, why: string) => (reason = why), teardown: () => {} }
  t.equal(await testFirefox(skipped, null), null)
  t.match(reason, /apt-get install firefox-esr/)
})

test('a page is opened in a real browser', async (t) => {
  const browser = await testBrowser(t)
  if (!browser) return
  const server = createServer((_, response) => response.end('<!doctype html><title>Hello</title><p id=a>x'))
  t.teardown(() => server.close())
  const page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${await listen(server)}/`)
  t.equal(await page.title(), 'Hello')
  await page.evaluate("document.getElementById('a').textContent = 'scripted'")
  t.equal(await page.textContent('#a'), 'scripted')
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
