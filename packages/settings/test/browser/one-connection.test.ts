/** One stream for all tabs of a browser, in Chromium. */
import { type BrowserOptions, testBrowser } from '@fastify-modular/test-support/browser'
import { until } from '@fastify-modular/test-support/until'
import type { BrowserContext, Page } from 'playwright-core'
import { type Test, test } from 'tap'
import { bundle } from '../support/bundle.ts'
import { change, startPages } from '../support/page.ts'

const { code: script } = await bundle(`
  import { createLiveClient } from '@fastify-modular/settings/client/live'
  const values = window.values = { 'app.title': [], 'app.theme': [], 'app.banner': [] }
  const client = window.client = createLiveClient()
  for (const key in values) client.watch(key, (value) => values[key].push(value))
`)

async function open(t: Test, options: Parameters<typeof startPages>[2] & BrowserOptions = {}) {
  const context = await testBrowser(t, options)
  if (!context) return undefined
  return { context, ...(await startPages(t, script, options)) }
}

const valuesOf = (page: Page, key: string): Promise<unknown[]> => page.evaluate(`window.values['${key}']`)
const stateOf = (page: Page): Promise<string> => page.evaluate('window.client.state')

async function shows(page: Page, key: string, value: unknown): Promise<void> {
  await until(async () => (await valuesOf(page, key)).at(-1) === value)
}

/** The names of locks that are held. */
const heldLocks = (page: Page): Promise<string[]> =>
  page.evaluate('navigator.locks.query().then(({ held }) => held.map(({ name }) => name))')

test('20 tabs have one stream, and all of them each change', async (t) => {
  const visited = await open(t)
  if (!visited) return
  const { app, context, signIn, streams } = visited
  await signIn(context, 'alice')
  const leader = await visited.open(context)
  await shows(leader, 'app.title', 'Fastify Modular')
  const others = await Promise.all(Array.from({ length: 19 }, () => visited.open(context)))
  const pages = [leader, ...others]
  await Promise.all(pages.map((page) => shows(page, 'app.title', 'Fastify Modular')))
  await change(app, 'app.title', 'Acme')
  await Promise.all(pages.map((page) => shows(page, 'app.title', 'Acme')))
  t.equal(streams.length, 1)
  t.same(new Set(await Promise.all(pages.map(stateOf))), new Set(['live']))

  // Own values are in no message: every tab reads them by itself.
  await app.settings.set('app.theme', 'dark', { userId: 'alice' })
  await Promise.all(pages.map((page) => shows(page, 'app.theme', 'dark')))

  // The leader leaves: another one goes on where it was.
  await leader.close()
  await change(app, 'app.title', 'Next')
  await Promise.all(others.map((page) => shows(page, 'app.title', 'Next')))
  await until(() => streams.length === 2)
  t.match(streams[1]?.headers['last-event-id'], /^[12]-/)
})

test('own values are never told to other tabs', async (t) => {
  const visited = await open(t)
  if (!visited) return
  const { app, context, signIn } = visited
  await signIn(context, 'alice')
  const first = await visited.open(context)
  await shows(first, 'app.theme', 'light')
  const [lock = ''] = await heldLocks(first)
  const eavesdropper = await context.newPage()
  await eavesdropper.goto(`${visited.url}/other`)
  await eavesdropper.evaluate(
    `window.heard = []; window.channel = new BroadcastChannel('${lock}'); channel.onmessage = ({ data }) => heard.push(JSON.stringify(data))`,
  )
  const second = await visited.open(context)
  await shows(second, 'app.theme', 'light')
  await app.settings.set('app.theme', 'dark', { userId: 'alice' })
  await Promise.all([first, second].map((page) => shows(page, 'app.theme', 'dark')))
  const heard = (await eavesdropper.evaluate('window.heard')) as string[]
  t.match(heard.join(), /Fastify Modular/)
  t.notMatch(heard.join(), /dark/)
})

test('two users in turn in one browser: nothing of the first one is shown to the second', async (t) => {
  const visited = await open(t)
  if (!visited) return
  const { app, context, signIn, openStreams } = visited
  await app.settings.set('app.theme', 'dark', { userId: 'alice' })
  await signIn(context, 'alice')
  const old = await visited.open(context)
  await shows(old, 'app.theme', 'dark')
  const [ofAlice] = await heldLocks(old)

  await signIn(context, 'bob')
  const page = await visited.open(context)
  await shows(page, 'app.theme', 'light')
  t.same(await valuesOf(page, 'app.theme'), ['light'])
  t.not(
    (await heldLocks(page)).find((name) => name !== ofAlice),
    undefined,
    'a lock of his own',
  )

  // Signing out ends the stream of alice; the page that she left open belongs to bob now, and shows what he may see.
  app.settings.endStreams('alice')
  await shows(old, 'app.theme', 'light')
  await until(() => openStreams() === 1)
  t.notOk((await heldLocks(page)).includes(ofAlice ?? ''))
  await change(app, 'app.title', 'Acme')
  await Promise.all([old, page].map((each) => shows(each, 'app.title', 'Acme')))
  t.same(await valuesOf(page, 'app.theme'), ['light'])
})

test('signing out ends the streams of all tabs', async (t) => {
  const visited = await open(t)
  if (!visited) return
  const { app, context, signIn, openStreams } = visited
  await signIn(context, 'alice')
  const pages = [await visited.open(context), await visited.open(context)]
  await Promise.all(pages.map((page) => shows(page, 'app.title', 'Fastify Modular')))
  await context.clearCookies()
  app.settings.endStreams('alice')
  for (const page of pages) {
    await until(async () => (await stateOf(page)) === 'offline')
    t.equal(await page.evaluate("window.client.known('app.title')"), undefined)
  }
  t.equal(openStreams(), 0)
  t.same(await heldLocks(pages[0] as Page), [])
})

test('a page without first values shares as well, as soon as an answer has named its caller', async (t) => {
  const visited = await open(t, { hasData: false })
  if (!visited) return
  const { app, context, signIn, openStreams } = visited
  await signIn(context, 'alice')
  const pages: Page[] = []
  for (let count = 0; count < 3; count++) {
    const page = await visited.open(context)
    await shows(page, 'app.title', 'Fastify Modular')
    pages.push(page)
  }
  await until(() => openStreams() === 1)
  await change(app, 'app.title', 'Acme')
  await Promise.all(pages.map((page) => shows(page, 'app.title', 'Acme')))
})

test('where no stream is to be had, what one tab writes shows in all tabs at once', async (t) => {
  const visited = await open(t, { settings: { stream: false } })
  if (!visited) return
  const { context, signIn } = visited
  await signIn(context, 'alice')
  const pages = [await visited.open(context), await visited.open(context)]
  for (const page of pages) await until(async () => (await stateOf(page)) === 'polling')
  for (const [index, theme] of ['dark', 'system'].entries()) {
    await pages[index]?.evaluate(`window.client.setMine('app.theme', '${theme}')`)
    await Promise.all(pages.map((page) => shows(page, 'app.theme', theme)))
  }
})

test('a leader whose page is frozen is replaced, and does not lead when it wakes', async (t) => {
  const visited = await open(t)
  if (!visited) return
  const { app, context, signIn, streams, openStreams, isHolding, release } = visited
  await signIn(context, 'alice')
  const leader = await visited.open(context)
  await shows(leader, 'app.title', 'Fastify Modular')
  const follower = await visited.open(context)
  await shows(follower, 'app.title', 'Fastify Modular')
  t.equal(streams.length, 1)

  const frozen = leader.evaluate(
    "{ const request = new XMLHttpRequest(); request.open('GET', '/hold', false); request.send() }",
  )
  await until(isHolding)
  await change(app, 'app.title', 'Acme')
  t.same(await follower.evaluate('window.runLongTimers()'), [35_000], 'it asks')
  t.equal(streams.length, 1)
  const [patience] = (await follower.evaluate('window.runLongTimers()')) as number[]
  t.ok(patience && patience >= 5000 && patience <= 6000, 'it takes the place')
  await shows(follower, 'app.title', 'Acme')
  t.equal(streams.length, 2)

  await change(app, 'app.title', 'Bolt')
  await shows(follower, 'app.title', 'Bolt')
  release()
  await frozen
  await shows(leader, 'app.title', 'Bolt')
  await until(() => openStreams() === 1)
  t.same(await valuesOf(follower, 'app.title'), ['Fastify Modular', 'Acme', 'Bolt'], 'nothing old is heard')
  t.equal(streams.length, 2)
})

test('a page that the browser keeps for "Back" leads no more, and comes back up to date', async (t) => {
  const visited = await open(t, { keepsPages: true })
  if (!visited) return
  const { app, context, signIn, streams } = visited
  await signIn(context, 'alice')
  const first = await visited.open(context)
  await shows(first, 'app.title', 'Fastify Modular')
  await first.evaluate(
    "window.mark = 'kept'; addEventListener('pageshow', ({ persisted }) => (window.wasKept = persisted))",
  )
  const second = await visited.open(context)
  await shows(second, 'app.title', 'Fastify Modular')
  await first.goto(`${visited.url}/other`)
  await until(() => streams.length === 2)
  await change(app, 'app.title', 'Acme')
  await shows(second, 'app.title', 'Acme')
  await first.goBack({ waitUntil: 'commit' })
  await shows(first, 'app.title', 'Acme')
  t.same(await first.evaluate('[window.mark, window.wasKept]'), ['kept', true])
  t.equal(streams.length, 2)
})

/** In a page: the test says whether it is visible. */
const chooseVisibility = `{
  let isVisible = true
  Object.defineProperty(document, 'visibilityState', { get: () => (isVisible ? 'visible' : 'hidden') })
  window.show = (is) => {
    isVisible = is
    document.dispatchEvent(new Event('visibilitychange'))
  }
}`

test('without Web Locks a tab has a stream while it is visible, and is up to date when it comes back', async (t) => {
  const visited = await open(t, { host: 'app.test' })
  if (!visited) return
  const { app, context, signIn, streams, openStreams } = visited
  await signIn(context, 'alice')
  await context.addInitScript(chooseVisibility)
  const [first, second] = [await visited.open(context), await visited.open(context)]
  t.same(await first.evaluate('[isSecureContext, navigator.locks]'), [false, null])
  const pages = [first, second]
  await Promise.all(pages.map((page) => shows(page, 'app.title', 'Fastify Modular')))
  t.equal(openStreams(), 2)

  await first.evaluate('window.show(false)')
  await until(() => openStreams() === 1)
  await change(app, 'app.title', 'Acme')
  await shows(second, 'app.title', 'Acme')
  // What a page that is not seen watches anew waits, too.
  await first.evaluate("window.client.watch('mail.port', () => {})")
  t.same(await valuesOf(first, 'app.title'), ['Fastify Modular'])

  await first.evaluate('window.show(true)')
  await shows(first, 'app.title', 'Acme')
  t.match(streams[2]?.headers['last-event-id'], /^0-/, 'it goes on where it was')
  t.equal(streams.length, 3)
})

test('visitors who are not signed in share a stream of public settings', async (t) => {
  const context: BrowserContext | null = await testBrowser(t)
  if (!context) return
  const { code } = await bundle(`
    import { createLiveClient } from '@fastify-modular/settings/client/live'
    const values = window.values = { 'app.primary_color': [] }
    createLiveClient({ public: true }).watch('app.primary_color', (value) => values['app.primary_color'].push(value))
  `)
  const { app, open: openOne, streams } = await startPages(t, code)
  const pages = [await openOne(context), await openOne(context)]
  await change(app, 'app.primary_color', '#123456')
  await Promise.all(pages.map((page) => shows(page, 'app.primary_color', '#123456')))
  t.equal(streams.length, 1)
})

test('visitors of two applications of one origin share no stream', async (t) => {
  const context: BrowserContext | null = await testBrowser(t)
  if (!context) return
  const { code } = await bundle(`
    import { createLiveClient } from '@fastify-modular/settings/client/live'
    const values = window.values = { '/api/settings': [], '/other/settings': [] }
    for (const baseUrl in values)
      createLiveClient({ public: true, baseUrl }).watch('app.primary_color', (value) => values[baseUrl].push(value))
  `)
  await context.route('**/other/settings/public/stream', (route) =>
    route.fulfill({
      contentType: 'text/event-stream',
      body: 'id: 1-00000000-00000000\nevent: snapshot\ndata: [{"key":"app.primary_color","value":"#654321"}]\n\n',
    }),
  )
  const { open: openOne } = await startPages(t, code)
  const page = await openOne(context)
  await shows(page, '/api/settings', '#3b82f6')
  await shows(page, '/other/settings', '#654321')
})

test('clients of a caller share a stream however they write the address of the API', async (t) => {
  const context: BrowserContext | null = await testBrowser(t)
  if (!context) return
  const { code } = await bundle(`
    import { createLiveClient } from '@fastify-modular/settings/client/live'
    const values = window.values = { '/api/settings': [], [location.origin + '/api/settings']: [], default: [] }
    for (const name in values) {
      const client = createLiveClient(name === 'default' ? {} : { baseUrl: name })
      client.watch('app.banner', (value) => values[name].push(value))
    }
  `)
  const { app, url, open: openOne, signIn, streams } = await startPages(t, code)
  await signIn(context, 'alice')
  const page = await openOne(context)
  await change(app, 'app.banner', 'Welcome')
  for (const name of ['/api/settings', `${url}/api/settings`, 'default']) await shows(page, name, 'Welcome')
  t.equal(streams.length, 1)
})
