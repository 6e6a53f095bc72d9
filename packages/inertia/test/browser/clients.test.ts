/** Each feature of the README's tables, in a browser, with the official clients 2.3 and 3. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { testBrowser } from '@fastify-modular/test-support/browser'
import { shows } from '@fastify-modular/test-support/shows'
import type { Page as BrowserPage } from 'playwright-core'
import { test, type Test } from 'tap'
import { build } from 'vite'
import { startServer } from './server.js'

type Client = 2 | 3
interface Shown {
  readonly props: Readonly<Record<string, unknown>>
  readonly url: string
  readonly flash?: object
}

/** The script of the pages, with this version of the client. */
async function bundle(t: Test, client: Client): Promise<string> {
  const outDir = await mkdtemp(join(tmpdir(), 'inertia-client-'))
  t.teardown(() => rm(outDir, { recursive: true, force: true }))
  await build({
    configFile: false,
    logLevel: 'error',
    resolve: client === 2 ? { alias: { '@inertiajs/react': '@inertiajs/react-2' } } : {},
    build: {
      outDir,
      emptyOutDir: true,
      minify: false,
      rollupOptions: {
        input: fileURLToPath(new URL('client.js', import.meta.url)),
        output: { entryFileNames: 'client.js', codeSplitting: false },
      },
    },
  })
  return readFile(join(outDir, 'client.js'), 'utf8')
}

/** What a feature is tried with. */
class Tab {
  readonly page: BrowserPage
  readonly #url: string

  constructor(page: BrowserPage, url: string) {
    this.page = page
    this.#url = url
  }

  async open(path: string): Promise<Shown> {
    await this.page.goto(this.#url + path)
    return this.shown()
  }

  async shown(): Promise<Shown> {
    return JSON.parse((await this.page.locator('#page').textContent()) ?? 'null') as Shown
  }

  /** Waits until the page says so. */
  async until(description: string, isSo: (shown: Shown) => boolean): Promise<Shown> {
    for (;;) {
      const shown = await this.shown()
      if (isSo(shown)) return shown
      await this.page
        .waitForFunction(([text]) => document.querySelector('#page')?.textContent !== text, [
          JSON.stringify(shown),
        ] as const)
        .catch(() => {
          throw new Error(`${description}: ${JSON.stringify(shown)}`)
        })
    }
  }

  /** Calls the client's router and waits until the visit has ended and its page is drawn. */
  async visit(
    method: 'get' | 'post' | 'put' | 'reload' | 'prefetch',
    ...args: readonly unknown[]
  ): Promise<void> {
    await this.page.evaluate(
      ([name, given]) =>
        new Promise<void>((resolve) => {
          const { router } = window as unknown as { router: Record<string, (...all: unknown[]) => void> }
          const options =
            (name === 'reload' ? given[0] : given[name === 'get' || name === 'prefetch' ? 1 : 2]) ?? {}
          const finish = () => requestAnimationFrame(() => setTimeout(resolve))
          const done = { ...(options as object), onFinish: finish }
          if (name === 'reload') router[name]?.(done)
          else if (name === 'get') router[name]?.(given[0], {}, done)
          else if (name === 'prefetch') router[name]?.(given[0], { ...done, onPrefetched: finish }, {})
          else router[name]?.(given[0], given[1] ?? {}, done)
        }),
      [method, args] as const,
    )
  }

  events(): Promise<readonly string[]> {
    return this.page.evaluate(() => (window as unknown as { events: string[] }).events)
  }
}

type Feature = (tab: Tab, t: Test, client: Client) => Promise<unknown>

const features: Readonly<Record<string, Feature>> = {
  'a form that is refused keeps what was typed, and has its errors': async (tab, t) => {
    await tab.open('/notes')
    await tab.page.fill('[name=title]', 'a')
    await tab.page.fill('[name=body]', 'a long text')
    await tab.page.click('button')
    await tab.page.locator('em').getByText('must NOT have fewer than 3 characters').waitFor()
    await shows(t, () => tab.page.inputValue('[name=title]'), 'a')
    await shows(t, () => tab.page.inputValue('[name=body]'), 'a long text')
    await shows(t, async () => (await tab.events()).includes('form failed'), true)
    t.notOk((await tab.events()).includes('form succeeded'))
    await tab.page.fill('[name=title]', 'taken')
    await tab.page.click('button')
    await tab.page.locator('em').getByText('is taken').waitFor()
    t.equal(new URL(tab.page.url()).pathname, '/notes')
  },
  'a form that is taken succeeds, and its message is shown once': async (tab, t) => {
    await tab.open('/notes')
    await tab.page.fill('[name=title]', 'Tea')
    await tab.page.click('button')
    t.same(
      (await tab.until('flash', ({ flash }) => flash !== undefined && Object.keys(flash).length > 0)).flash,
      {
        message: 'Saved.',
      },
    )
    const seen = await tab.events()
    t.ok(
      seen.includes('form succeeded') && seen.includes('flash') && !seen.includes('form failed'),
      seen.join(),
    )
    await tab.visit('get', '/notes')
    t.same((await tab.shown()).flash ?? {}, {})
  },
  'a form asks what is wrong before it is sent': async (tab, t) => {
    await tab.open('/asking')
    for (const [title, said] of [
      ['a', 'must NOT have fewer than 3 characters'],
      ['abc', 'right'],
    ] as const) {
      await tab.page.fill('[name=title]', title)
      await tab.page.click('button')
      await tab.page.locator('em').getByText(said).waitFor()
    }
    t.equal(new URL(tab.page.url()).pathname, '/asking')
    t.same((await tab.shown()).flash ?? {}, {})
  },
  'two forms keep their errors apart': async (tab, t) => {
    await tab.open('/bags')
    await tab.page.fill('#two [name=title]', 'x')
    await tab.page.click('#two button')
    await tab.page.locator('#two em').getByText('must NOT').waitFor()
    t.equal(await tab.page.locator('#one em').textContent(), '')
  },
  'a form that names the props that it wants back has its errors, too': async (tab, t) => {
    await tab.open('/only')
    await tab.page.fill('[name=title]', 'a')
    await tab.page.click('button')
    await tab.page.locator('em').getByText('must NOT have fewer than 3 characters').waitFor()
    await shows(t, async () => (await tab.events()).includes('form failed'), true)
  },
  'a prefetch leaves errors for the page': async (tab, t) => {
    await tab.open('/bags')
    await tab.page.evaluate(() =>
      fetch('/notes', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-inertia': 'true' },
        body: '{"title":"x"}',
        redirect: 'manual',
      }),
    )
    await tab.visit('prefetch', '/notes')
    await tab.visit('reload')
    t.match((await tab.shown()).props['errors'], { title: /must NOT/ })
  },
  'partial reloads, with dot paths': async (tab, t) => {
    const { props } = await tab.open('/props')
    t.match(props, { lazy: 'lazy', user: 'Ada', nested: { a: 1, b: { c: 2, d: 3 } } })
    t.notOk('extra' in props)
    const { calls } = props
    await tab.visit('reload', { only: ['extra'] })
    const named = await tab.shown()
    t.match(named.props, { extra: 'extra', lazy: 'lazy', nested: { a: 1 } })
    t.equal(named.props['calls'], Number(calls) + 1, 'always')
    await tab.visit('reload', { only: ['nested.b.c'] })
    t.match((await tab.shown()).props, { nested: { b: { c: 2 } } })
    await tab.visit('reload', { except: ['lazy'] })
    t.equal((await tab.shown()).props['calls'], Number(calls) + 3)
  },
  'deferred props, their groups and nested ones': async (tab, t, client) => {
    await tab.open('/deferred')
    await tab.page.locator('#report').getByText('shown').waitFor()
    const { props } = await tab.until('nested', (shown) => JSON.stringify(shown).includes('"later":"later"'))
    t.match(props, { report: { total: 7 } })
    // Version 2 has no notion of rescued props: the others are there, and its fallback stays.
    await tab.page
      .locator('#broken')
      .getByText(client === 2 ? 'waiting' : 'rescued')
      .waitFor()
  },
  'props that appear when they are seen': async (tab) => {
    await tab.open('/visible')
    await tab.page.locator('#lazy').getByText('shown').waitFor()
  },
  'merged, prepended and deeply merged props, and their reset': async (tab, t) => {
    const first = Number(((await tab.open('/merged')).props as { before: number[] }).before[0])
    await tab.visit('reload', { only: ['appended', 'before', 'below', 'deep'] })
    const second = first + 1
    t.match((await tab.shown()).props, {
      appended: [{ id: 1, n: second }, { id: first + 100 }, { id: second + 100 }],
      before: [second, first],
      below: { data: [first, second] },
      deep: { list: [first, second], [`k${first}`]: 1, [`k${second}`]: 1 },
    })
    await tab.visit('reload', { only: ['appended', 'before'], reset: ['appended', 'before'] })
    t.match((await tab.shown()).props, { appended: [{ id: 1 }, { id: second + 101 }], before: [second + 1] })
    t.equal(((await tab.shown()).props as { appended: unknown[] }).appended.length, 2)
  },
  'once props are kept over visits and pages, and refreshed by name': async (tab, t, client) => {
    const { plans } = (await tab.open('/once')).props
    await tab.visit('get', '/once')
    t.equal((await tab.shown()).props['plans'], plans)
    await tab.visit('get', '/once-too')
    // Version 2 keeps props at the top alone: it does not find nested ones.
    t.same((await tab.shown()).props['there'], client === 2 ? {} : { plans })
    await tab.visit('get', '/once')
    await tab.visit('reload', { only: ['plans'] })
    t.equal((await tab.shown()).props['plans'], Number(plans) + 1)
  },
  'an endless list grows at both ends': async (tab, t) => {
    await tab.open('/endless')
    const items = async () => (await tab.page.locator('li').allTextContents()).join()
    await shows(t, items, '4,5,6')
    for (const [page, end, expected] of [
      [3, 'append', '4,5,6,7,8,9'],
      [1, 'prepend', '1,2,3,4,5,6,7,8,9'],
    ] as const) {
      await tab.visit('reload', {
        data: { page },
        only: ['list'],
        headers: { 'X-Inertia-Infinite-Scroll-Merge-Intent': end },
      })
      await shows(t, items, expected)
    }
  },
  'an endless list loads by itself where it is scrolled to': async (tab, t) => {
    await tab.open('/scrolled?page=1')
    const items = async () => (await tab.page.locator('li').allTextContents()).join()
    await shows(t, items, '1,2,3')
    for (const last of [6, 9]) {
      await tab.page.locator('li').last().scrollIntoViewIfNeeded()
      await tab.page.locator(`li:text-is("${last}")`).waitFor({ state: 'attached' })
    }
    await shows(t, items, '1,2,3,4,5,6,7,8,9')
  },
  'a page keeps the fragment of the address that led to it': async (tab, _, client) => {
    await tab.open('/')
    await tab.visit('get', '/moved#below')
    // Version 2 does not know it.
    await tab.page.waitForURL(client === 2 ? /\/kept$/ : /\/kept#below$/)
  },
  'an instant visit shows the shared props until the page is there': async (tab, t, client) => {
    if (client === 2) return // it has no instant visits
    await tab.open('/')
    await tab.page.evaluate(() => {
      const { router } = window as unknown as { router: { visit(url: string, options: object): void } }
      router.visit('/slow', { component: 'Probe' })
    })
    const meanwhile = await tab.until('instant', ({ props }) => props['home'] === undefined)
    t.same(meanwhile.props, { user: 'Ada', errors: {} })
    await tab.page.evaluate(() => fetch('/let-go'))
    t.match(await tab.until('slow', ({ props }) => props['slow'] === true), { url: '/slow' })
  },
  'redirects after writes, also to a fragment': async (tab, t, client) => {
    await tab.open('/props')
    await tab.visit('put', '/redirected')
    t.match(await tab.until('home', ({ props }) => props['home'] === true), { url: '/?from=put' })
    await tab.visit('post', '/fragment')
    const isRefused = (await tab.events()).some((name) => name === 'invalid' || name === 'httpException')
    t.equal(isRefused, client === 2, 'version 2 shows an empty dialog')
    if (client === 2) return
    await tab.until('props', ({ props }) => props['lazy'] === 'lazy')
    await tab.page.waitForURL(/\/props#below$/)
  },
  'a page outside': async (tab) => {
    await tab.open('/props')
    await tab.page.evaluate(() => {
      ;(window as unknown as { router: { post(url: string): void } }).router.post('/external')
    })
    await tab.page.getByRole('heading', { name: 'plain' }).waitFor()
  },
  'history is encrypted, and forgotten after signing out': async (tab, t) => {
    await tab.open('/')
    await tab.visit('get', '/private')
    t.equal(
      await tab.page.evaluate(() => Object.prototype.toString.call(history.state.page)),
      '[object ArrayBuffer]',
    )
    await tab.visit('get', '/signed-out')
    await tab.page.goBack()
    await tab.until('private, loaded afresh', ({ props }) => props['secret'] === 1)
  },
  'Back asks the server for encrypted pages only where a document came between': async (tab, t) => {
    const asked: string[] = []
    const isVisit = (headers: Record<string, string>) => headers['x-inertia'] !== undefined
    tab.page.on(
      'request',
      (request) => isVisit(request.headers()) && asked.push(new URL(request.url()).pathname),
    )
    await tab.open('/private')
    await tab.visit('get', '/')
    asked.length = 0
    await tab.page.goBack()
    await tab.until('private, as the browser remembers it', ({ props }) => props['secret'] === 1)
    t.same(asked, [])
    await tab.visit('get', '/')
    await tab.open('/private?again')
    asked.length = 0
    await tab.page.goBack()
    await tab.page.goBack()
    await tab.until('private', ({ props }) => props['secret'] === 1)
    t.ok(
      asked.every((path) => path === '/private'),
      String(asked),
    )
  },
  'an unmatched path is a page': async (tab, t) => {
    await tab.open('/')
    await tab.visit('get', '/missing')
    t.match(await tab.until('404', ({ props }) => props['status'] === 404), { url: '/missing' })
  },
  // The last one: it changes the version of the server.
  'new assets load the page afresh': async (tab, t) => {
    await tab.open('/')
    await tab.page.evaluate(() => fetch('/deploy'))
    await tab.page.evaluate(() => {
      Object.assign(window, { isOld: true })
      ;(window as unknown as { router: { get(url: string): void } }).router.get('/props')
    })
    await tab.page.waitForFunction(() => !('isOld' in window) && location.pathname === '/props')
    t.match(await tab.shown(), { url: '/props' })
  },
}

for (const client of [2, 3] as const) {
  test(`client ${client}`, async (t) => {
    const browser = await testBrowser(t)
    if (browser === null) return
    const { app, url } = await startServer(await bundle(t, client))
    t.teardown(() => app.close())
    for (const [name, feature] of Object.entries(features)) {
      await t.test(`client ${client}: ${name}`, async (child) => {
        const page = await browser.newPage()
        await feature(new Tab(page, url), child, client)
        await page.close()
      })
    }
  })
}
