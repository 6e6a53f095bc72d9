/** One stream for all who follow on a page, while the page is looked at; in Chromium. */
import { type BrowserOptions, testBrowser } from '@fastify-modular/test-support/browser'
import { until } from '@fastify-modular/test-support/until'
import type { Frame, Page } from 'playwright-core'
import { type Test, test } from 'tap'
import { bundle } from '../support/bundle.ts'
import { change, startPages } from '../support/page.ts'

const { code: script } = await bundle(`
  import { createLiveClient } from '@fastify-modular/settings/client/live'
  const values = window.values = { 'app.title': [], 'app.theme': [], 'app.primary_color': [] }
  const client = window.client = createLiveClient(location.search === '?public' ? { public: true } : {})
  for (const key in values) client.watch(key, (value) => values[key].push(value))
`)

/** In a page: the test says whether it is visible. */
const chooseVisibility = `{
  let isVisible = true
  Object.defineProperty(document, 'visibilityState', { get: () => (isVisible ? 'visible' : 'hidden') })
  window.look = (is) => {
    isVisible = is
    document.dispatchEvent(new Event('visibilitychange'))
  }
}`

async function open(
  t: Test,
  { code = script, ...options }: Parameters<typeof startPages>[2] & BrowserOptions & { code?: string } = {},
) {
  const context = await testBrowser(t, options)
  if (!context) return undefined
  if (!options.keepsPages) await context.addInitScript(chooseVisibility)
  const started = await startPages(t, code, options)
  return {
    ...started,
    context,
    open: (query?: string) => started.open(context, query),
    signIn: (caller: string) => started.signIn(context, caller),
  }
}

const valuesOf = (page: Page | Frame, key: string): Promise<unknown[]> =>
  page.evaluate(`window.values['${key}']`)
const stateOf = (page: Page): Promise<string> => page.evaluate('window.client.state')
const look = (page: Page, isVisible: boolean): Promise<void> => page.evaluate(`window.look(${isVisible})`)

async function shows(page: Page | Frame, key: string, value: unknown): Promise<void> {
  await until(async () => (await valuesOf(page, key)).at(-1) === value)
}

test('12 tabs that are looked at in turn, in two windows, leave room for requests', async (t) => {
  const visited = await open(t)
  if (!visited) return
  await visited.signIn('alice')
  const beside = await visited.open()
  const tabs: Page[] = []
  for (let count = 0; count < 12; count++) {
    const before = tabs.at(-1)
    if (before) await look(before, false)
    tabs.push(await visited.open())
  }
  const times: number[] = []
  for (const [index, tab] of tabs.entries()) {
    await look(tabs.at(index - 1) ?? tab, false)
    await look(tab, true)
    const theme = index % 2 === 0 ? 'dark' : 'system'
    times.push(
      await tab.evaluate(
        `(async (start) => (await client.setMine('app.theme', '${theme}'), performance.now() - start))(performance.now())`,
      ),
    )
    await Promise.all([tab, beside].map((page) => shows(page, 'app.theme', theme)))
  }
  t.comment(`milliseconds until a PUT was answered: ${times.map((time) => Math.round(time)).join(' ')}`)
  await until(() => visited.openStreams() === 2)
})

test('a hidden page has no stream, and goes on where it was when it is looked at', async (t) => {
  const visited = await open(t)
  if (!visited) return
  const { app, streams, openStreams } = visited
  await visited.signIn('alice')
  const [first, second] = [await visited.open(), await visited.open()]
  await Promise.all([first, second].map((page) => shows(page, 'app.title', 'Fastify Modular')))
  t.equal(openStreams(), 2)

  await look(first, false)
  await until(() => openStreams() === 1)
  await change(app, 'app.title', 'Acme')
  await app.settings.set('app.theme', 'dark', { userId: 'alice' })
  await Promise.all([shows(second, 'app.title', 'Acme'), shows(second, 'app.theme', 'dark')])
  // What a page that is not seen watches anew waits, too.
  await first.evaluate("window.client.watch('mail.port', () => {})")
  t.same(await valuesOf(first, 'app.title'), ['Fastify Modular'])

  await look(first, true)
  await Promise.all([shows(first, 'app.title', 'Acme'), shows(first, 'app.theme', 'dark')])
  t.match(streams[2]?.headers['last-event-id'], /^0-/)
  t.equal(streams.length, 3)
})

test('all who follow on a page share its stream, however they write the address of the API', async (t) => {
  const { code } = await bundle(`
    import { createLiveClient } from '@fastify-modular/settings/client/live'
    import { followSettings } from '@fastify-modular/settings/client/internal'
    const values = window.values = { relative: [], absolute: [], default: [], rows: [], later: [] }
    const follow = (name, options) =>
      createLiveClient(options).watch('app.title', (value) => values[name].push(value))
    follow('relative', { baseUrl: '/api/settings/' })
    follow('absolute', { baseUrl: location.origin + '/api/settings' })
    const stop = follow('default', {})
    const onSettings = (rows) => rows.forEach(({ key, value }) => key === 'app.title' && values.rows.push(value))
    followSettings({}, { onSettings, onOwn() {}, onState() {} })
    window.stop = stop
    window.followLater = () => follow('later', {})
    window.followAlone = () => follow('later', { headers: { 'x-own': '1' } })
  `)
  const visited = await open(t, { code })
  if (!visited) return
  const { app, streams } = visited
  await visited.signIn('alice')
  const page = await visited.open()
  const names = ['relative', 'absolute', 'default', 'rows']
  await change(app, 'app.title', 'Acme')
  for (const name of names) await shows(page, name, 'Acme')
  await page.evaluate('window.stop()')
  await page.evaluate('window.followLater()')
  await shows(page, 'later', 'Acme')
  await change(app, 'app.title', 'Bolt')
  for (const name of ['relative', 'absolute', 'rows', 'later']) await shows(page, name, 'Bolt')
  t.equal((await valuesOf(page, 'default')).at(-1), 'Acme')
  t.equal(streams.length, 1)

  await page.evaluate('window.followAlone()')
  await until(() => streams.length === 2)
  t.equal(streams[1]?.headers['x-own'], '1')
})

for (const [how, endsStreams] of [
  ['whose streams are ended', true],
  ['whose stream goes on', false],
] as const)
  test(`another caller in the same browser sees nothing of one who has signed out, ${how}`, async (t) => {
    const visited = await open(t)
    if (!visited) return
    const { app, openStreams } = visited
    await app.settings.set('app.theme', 'dark', { userId: 'alice' })
    await visited.signIn('alice')
    const old = await visited.open()
    await shows(old, 'app.theme', 'dark')

    await look(old, false)
    await visited.signIn('bob')
    if (endsStreams) app.settings.endStreams('alice')
    const page = await visited.open()
    await shows(page, 'app.theme', 'light')
    t.same(await valuesOf(page, 'app.theme'), ['light'])

    // The page that alice left open belongs to bob now, and shows what he may see.
    await look(old, true)
    await shows(old, 'app.theme', 'light')
    await until(() => openStreams() === 2)
    await change(app, 'app.title', 'Acme')
    await Promise.all([old, page].map((each) => shows(each, 'app.title', 'Acme')))
    t.same(await valuesOf(page, 'app.theme'), ['light'])
  })

test('of a page that was made for another caller nothing is kept', async (t) => {
  const visited = await open(t)
  if (!visited) return
  await visited.app.settings.set('app.theme', 'dark', { userId: 'alice' })
  await visited.signIn('alice')
  const page = await visited.open('?made-for=bob')
  // The element says that it was made for bob, with a title that alice does not have.
  await shows(page, 'app.title', 'Fastify Modular')
  await shows(page, 'app.theme', 'dark')
  t.equal(await page.evaluate("window.client.known('only.bob')"), undefined)
})

test('signing out ends the stream of each visible tab, and nothing is kept', async (t) => {
  const visited = await open(t)
  if (!visited) return
  const { app, context, openStreams } = visited
  await visited.signIn('alice')
  const pages = [await visited.open(), await visited.open()]
  await Promise.all(pages.map((page) => shows(page, 'app.title', 'Fastify Modular')))
  await context.clearCookies()
  app.settings.endStreams('alice')
  for (const page of pages) {
    await until(async () => (await stateOf(page)) === 'offline')
    t.equal(await page.evaluate("window.client.known('app.title')"), undefined)
  }
  t.equal(openStreams(), 0)
})

test('a page that polls reads at once when it is looked at, and has a stream where there is one by then', async (t) => {
  const visited = await open(t)
  if (!visited) return
  const { app, streams } = visited
  await visited.signIn('alice')
  await visited.context.route('**/stream', (route) =>
    route.fulfill({ contentType: 'text/event-stream', body: 'event: over\ndata: {}\n\n' }),
  )
  const page = await visited.open()
  await until(async () => (await stateOf(page)) === 'polling')
  await look(page, false)
  await change(app, 'app.title', 'Acme')
  await look(page, true)
  await shows(page, 'app.title', 'Acme')
  t.equal(await stateOf(page), 'polling')

  await visited.context.unroute('**/stream')
  await look(page, false)
  await look(page, true)
  await until(async () => (await stateOf(page)) === 'live')
  t.equal(streams.length, 1)
})

test('a page that is frozen keeps nobody else from changes, and has them when it wakes', async (t) => {
  const visited = await open(t)
  if (!visited) return
  const { app, isHolding, release } = visited
  await visited.signIn('alice')
  const pages = [await visited.open(), await visited.open()] as const
  await Promise.all(pages.map((page) => shows(page, 'app.title', 'Fastify Modular')))
  const frozen = pages[0].evaluate(
    "{ const request = new XMLHttpRequest(); request.open('GET', '/hold', false); request.send() }",
  )
  await until(isHolding)
  await change(app, 'app.title', 'Acme')
  await shows(pages[1], 'app.title', 'Acme')
  release()
  await frozen
  await shows(pages[0], 'app.title', 'Acme')
})

test('a page that the browser keeps for "Back" has no stream, and comes back up to date', async (t) => {
  const visited = await open(t, { keepsPages: true })
  if (!visited) return
  const { app, url, streams, openStreams } = visited
  await visited.signIn('alice')
  const page = await visited.open()
  await shows(page, 'app.title', 'Fastify Modular')
  await page.evaluate(
    "window.mark = 'kept'; addEventListener('pageshow', ({ persisted }) => (window.wasKept = persisted))",
  )
  await page.goto(`${url}/other`)
  await until(() => openStreams() === 0)
  await change(app, 'app.title', 'Acme')
  await page.goBack({ waitUntil: 'commit' })
  await shows(page, 'app.title', 'Acme')
  t.same(await page.evaluate('[window.mark, window.wasKept]'), ['kept', true])
  t.equal(streams.length, 2)
})

test('a page finds the next server, and what a deployment has changed without a write', async (t) => {
  const visited = await open(t)
  if (!visited) return
  await visited.signIn('alice')
  const page = await visited.open()
  await shows(page, 'app.title', 'Fastify Modular')
  await visited.app.close()
  await until(async () => (await stateOf(page)) === 'offline')
  await visited.deploy({ 'app.title': 'Deployed' })
  await shows(page, 'app.title', 'Deployed')
})

test('visitors who are not signed in follow public settings', async (t) => {
  const visited = await open(t)
  if (!visited) return
  const page = await visited.open('?public')
  await shows(page, 'app.primary_color', '#3b82f6')
  await change(visited.app, 'app.primary_color', '#123456')
  await shows(page, 'app.primary_color', '#123456')
  t.same(
    visited.streams.map(({ url }) => url),
    ['/api/settings/public/stream'],
  )
})

/** Puts a frame into a page. */
async function frameOf(page: Page, address = '/page'): Promise<Frame> {
  await page.evaluate(
    `{ const frame = document.createElement('iframe'); frame.src = '${address}'; document.body.append(frame) }`,
  )
  await until(() => page.frames().length === 2)
  const frame = page.frames().at(-1) as Frame
  await frame.waitForFunction('window.values')
  return frame
}

test('a frame follows what its page does, without a stream, and reads own values by itself', async (t) => {
  const visited = await open(t)
  if (!visited) return
  const { app, streams, openStreams } = visited
  await visited.signIn('alice')
  const page = await visited.open()
  await shows(page, 'app.title', 'Fastify Modular')
  for (const address of ['/page', '/page?public']) {
    const isPublic = address.endsWith('public')
    await change(app, 'app.primary_color', '#000000')
    const frame = await frameOf(page, address)
    await shows(frame, 'app.primary_color', '#000000')
    await change(app, 'app.primary_color', '#123456')
    await shows(frame, 'app.primary_color', '#123456')
    await app.settings.set('app.theme', 'dark', { userId: 'alice' })
    await shows(page, 'app.theme', 'dark')
    if (isPublic) t.same(await valuesOf(frame, 'app.theme'), ['light'], 'nothing of hers')
    else await shows(frame, 'app.theme', 'dark')

    await look(page, false)
    await frame.evaluate('window.look(false)')
    await until(() => openStreams() === 0)
    await change(app, 'app.primary_color', '#abcdef')
    await frame.evaluate('window.look(true)')
    await look(page, true)
    await shows(frame, 'app.primary_color', '#abcdef')
    await page.evaluate("document.querySelector('iframe').remove()")
    await app.settings.reset('app.theme', { userId: 'alice' })
  }
  t.same(new Set(streams.map(({ url }) => url)), new Set(['/api/settings/stream']))
  await change(app, 'app.title', 'Acme')
  await shows(page, 'app.title', 'Acme')
})

test('a frame whose page does not follow polls, until it does', async (t) => {
  const visited = await open(t)
  if (!visited) return
  const { app, url, streams } = visited
  await visited.signIn('alice')
  const page = await visited.context.newPage()
  await page.goto(`${url}/other`)
  const frame = await frameOf(page)
  await until(async () => (await frame.evaluate('window.client.state')) === 'polling')
  await shows(frame, 'app.title', 'Fastify Modular')
  t.equal(streams.length, 0)

  await page.addScriptTag({ url: '/script.js', type: 'module' })
  await page.waitForFunction('window.values')
  await shows(page, 'app.title', 'Fastify Modular')
  await frame.evaluate("dispatchEvent(new Event('online'))") // the next poll, without the wait
  await until(async () => (await frame.evaluate('window.client.state')) === 'live')
  await change(app, 'app.title', 'Acme')
  await shows(frame, 'app.title', 'Acme')
  t.equal(streams.length, 1)
})
