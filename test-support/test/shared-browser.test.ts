/** One browser for the files of a run. */
import { createServer } from 'node:http'
import { type Test, test } from 'tap'
import { startBrowser, testBrowser } from '@fastify-modular/test-support/browser'
import { listen } from '@fastify-modular/test-support/free-port'
import { offerServers, type SharedServer } from '@fastify-modular/test-support/shared-servers'
import { spawnNode } from '@fastify-modular/test-support/spawn-app'
import { until } from '@fastify-modular/test-support/until'
import { takeOffer } from './take-offer.ts'

/** Returns the browsers that this run has started. */
async function offerBrowser(t: Test): Promise<readonly SharedServer[]> {
  const started: SharedServer[] = []
  const servers = await offerServers({
    browser: async () => {
      const server = await startBrowser()
      started.push(server)
      return server
    },
  })
  t.teardown(servers.stop)
  takeOffer(t, servers.address)
  return started
}

/** A page that keeps a connection as long as it is open. */
async function servePage(t: Test) {
  let open = 0
  const server = createServer(({ url }, response) => {
    if (url !== '/stream') {
      response.setHeader('content-type', 'text/html').end('<script>new EventSource("/stream")</script>')
      return
    }
    open++
    response.once('close', () => open--)
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n')
  })
  const url = `http://127.0.0.1:${await listen(server)}`
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url, open: () => open }
}

test('files of a run share a browser, where each has a profile of its own', async (t) => {
  const started = await offerBrowser(t)
  const first = await testBrowser(t)
  const second = await testBrowser(t)
  if (!first || !second) return
  t.equal(started.length, 1)
  const { url } = await servePage(t)
  const see = async (browser: typeof first) => {
    const page = await browser.newPage()
    await page.goto(url)
    return page.evaluate('[document.cookie, localStorage.name, document.cookie = localStorage.name = "mine"]')
  }
  t.same(await see(first), ['', undefined, 'mine'])
  t.same(await see(second), ['', undefined, 'mine'])
  t.same(first.browser()?.contexts(), [first], 'a file sees its own profile only')

  await t.test('a test that shares nothing has its own', async (t) => {
    const own = await testBrowser(t, { isOwn: true })
    const withHistory = await testBrowser(t, { keepsPages: true })
    t.equal(started.length, 1)
    t.ok(own?.browser()?.isConnected() && withHistory?.browser()?.isConnected())
  })
})

test('what a file has opened is closed with its test, and also when the file is killed', async (t) => {
  const started = await offerBrowser(t)
  const { url, open } = await servePage(t)
  const browser = await testBrowser(t)
  if (!browser) return
  await (await browser.newPage()).goto(url)
  await until(() => open() === 1)
  await t.test('a test of its own', async (t) => {
    await (await (await testBrowser(t))?.newPage())?.goto(url)
    await until(() => open() === 2)
    t.pass('both are open')
  })
  await until(() => open() === 1)
  const file = spawnNode(new URL('fixtures/open-page.js', import.meta.url), { args: [url] })
  await until(() => open() === 2)
  await file.stop('SIGKILL')
  await until(() => open() === 1)
  t.equal(started.length, 1)
})

test('a browser that crashes fails the files that have it open; the next one gets another', async (t) => {
  const started = await offerBrowser(t)
  const first = await testBrowser(t)
  if (!first) return
  const page = await first.newPage()
  const devtools = await first.newCDPSession(page)
  await Promise.all([started[0]?.ended, t.rejects(devtools.send('Browser.crash'))])
  await t.rejects(page.goto('about:blank'), /closed/)
  const next = await testBrowser(t)
  await (await next?.newPage())?.goto('about:blank')
  t.equal(started.length, 2)
})

test('a file that runs by itself starts its own', async (t) => {
  const started = await offerBrowser(t)
  takeOffer(t, undefined)
  const browser = await testBrowser(t)
  await (await browser?.newPage())?.goto('about:blank')
  t.equal(started.length, 0)
})
