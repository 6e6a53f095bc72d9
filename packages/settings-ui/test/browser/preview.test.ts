/** What is entered shows in the page itself before it is saved, to its author alone. */
import { SettingScope, setting } from '@fastify-modular/settings'
import { shows } from '@fastify-modular/test-support/shows'
import type { SettingsUiOptions } from '@fastify-modular/settings-ui'
import type { Page } from 'playwright-core'
import { test } from 'tap'
import { problems } from '../support/axe.js'
import { definitions } from '../support/definitions.js'
import { boxOf, tap } from '../support/looks.js'
import { openPlain, plainHost } from '../support/plain-host.js'
import { phone, visit } from '../support/visit.js'

const image = (name: string) =>
  `data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" id="${name}"/%3E`

const ui: SettingsUiOptions = {
  title: ({ server }) => server.settings.get(definitions.title),
  banner: ({ server }) => server.settings.get(definitions.banner) ?? undefined,
  theme: async ({ server, caller }) => ({
    scheme:
      (await server.settings.forUser(caller?.id ?? '')).get(definitions.theme) === 'dark' ? 'dark' : 'auto',
    setting: 'user.theme',
  }),
  preview: {
    'app.title': 'title',
    'app.accent': 'accent',
    'app.banner': 'banner',
    'user.theme': 'theme',
    'app.density': 'density',
    'app.style': { slot: 'logo', values: { dense: image('dense'), playful: image('playful') } },
  },
}

const density = setting.select('app.density', {
  displayName: 'Density',
  scope: SettingScope.Application,
  group: 'Appearance',
  allowedValues: ['compact', 'spacious'],
  default: 'spacious',
})

const on = 'Preview · only you see this'
const off = 'Preview off. Showing saved'

/** Two frames later everything that was entered is shown. */
const frames = (page: Page) =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))

test('a draft shows in the page itself', async (t) => {
  const visited = await visit(t, { ui, settings: { definitions: [definitions, { density }] } })
  if (!visited) return
  const { page, app, open, openLive, row, field, save, status, complaints, writes } = visited
  const title = page.locator('.fm-brand span')
  const banner = page.locator('.fm-banner')
  const html = page.locator('html')
  const toggle = page.locator('.fm-try:visible')
  const all = '/settings/manage?only=application'
  const accent = () =>
    html.evaluate((root) => {
      const probe = document.createElement('i')
      root.append(probe)
      probe.className = 'fm-probe'
      const sheet = new CSSStyleSheet()
      sheet.replaceSync('.fm-probe{color:var(--fm-accent)}')
      document.adoptedStyleSheets.push(sheet)
      const { color } = getComputedStyle(probe)
      document.adoptedStyleSheets.pop()
      probe.remove()
      return color
    })
  const choose = (key: string, name: string) => row(key).getByRole('radio', { name }).check()

  await t.test('title, banner, accent, logo and density; nothing is sent, nothing is refused', async (t) => {
    await open(all)
    t.equal(await toggle.count(), 0)
    await field('Title').focus()
    await page.keyboard.press('End')
    await page.keyboard.type('!')
    await shows(t, () => toggle.textContent(), on)
    await shows(t, () => title.textContent(), 'Fastify Modular!')
    await field('Banner').fill('Closed <today>')
    await shows(t, () => banner.textContent(), 'Closed <today>')
    await field('Accent colour').fill('#c8632b')
    await row('app.accent')
      .getByText(/Shade adjusted to .#a85324. for contrast/)
      .waitFor()
    await frames(page)
    await shows(t, accent, 'rgb(168, 83, 36)')
    await choose('app.style', 'dense')
    await frames(page)
    await shows(t, () => page.locator('.fm-brand img').getAttribute('src'), image('dense'))
    await row('app.density').getByRole('radio', { name: 'compact' }).check()
    await page.locator('html[data-density=compact]').waitFor()
    t.same(writes, [])
    t.same(await problems(page), [])
    t.same(complaints, [])
  })

  await t.test('Discard shows what is saved again, and its Undo the drafts', async (t) => {
    await open(all)
    await field('Title').fill('Draft')
    await field('Banner').fill('Draft')
    await field('Accent colour').fill('#ff0000')
    await choose('app.style', 'dense')
    await shows(t, () => banner.textContent(), 'Draft')
    const before = 'rgb(47, 87, 221)'
    await shows(t, async () => (await accent()) !== before, true)
    await page.getByRole('button', { name: 'Discard' }).click()
    await shows(t, () => title.textContent(), 'Fastify Modular')
    await shows(t, () => banner.textContent(), '')
    await shows(t, accent, before)
    await shows(t, () => page.locator('.fm-brand img').getAttribute('src'), null)
    await shows(t, () => toggle.count(), 0)
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await shows(t, () => title.textContent(), 'Draft')
  })

  await t.test('the toggle shows what is saved; the next change is previewed', async (t) => {
    await open(all)
    await field('Title').fill('Draft')
    await shows(t, () => toggle.textContent(), on)
    await shows(t, () => toggle.getAttribute('aria-pressed'), 'true')
    await toggle.click()
    await shows(t, () => title.textContent(), 'Fastify Modular')
    await shows(t, () => toggle.textContent(), off)
    await shows(t, () => toggle.getAttribute('aria-pressed'), 'false')
    await shows(t, () => row('app.title').getAttribute('data-state'), 'unsaved')
    await toggle.and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Space')
    await shows(t, () => title.textContent(), 'Draft')
    await page.keyboard.press('Enter')
    await shows(t, () => title.textContent(), 'Fastify Modular')
    await field('Website').fill('https://other.example/')
    await frames(page)
    t.equal(await toggle.textContent(), off, 'this change shows nothing')
    await field('Title').fill('Draft 2')
    await shows(t, () => title.textContent(), 'Draft 2')
    await shows(t, () => toggle.textContent(), on)
  })

  await t.test('on a phone the toggle stands in the save bar', async (t) => {
    await open(all, 'ada', { size: phone })
    await field('Title').fill('Draft')
    await shows(t, () => page.locator('.fm-bar .fm-try').textContent(), on)
    await shows(t, () => toggle.count(), 1)
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Emulation.setTouchEmulationEnabled', { enabled: true })
    t.ok((await boxOf(toggle)).height >= 44, 'high enough for a finger')
    await devtools.detach()
    await tap(toggle)
    await shows(t, () => title.textContent(), 'Fastify Modular')
    await tap(toggle)
    await shows(t, () => title.textContent(), 'Draft')
    t.same(await problems(page), [])
    await shows(t, () => page.evaluate(() => document.documentElement.scrollWidth), phone.width)
  })

  await t.test('an invalid draft shows the last valid one', async (t) => {
    await open(all)
    await field('Title').fill('Good')
    await shows(t, () => title.textContent(), 'Good')
    for (const wrong of ['Good<', '']) {
      await field('Title').fill(wrong)
      await frames(page)
      t.equal(await title.textContent(), 'Good')
    }
    await field('Accent colour').fill('#12')
    await frames(page)
    t.equal(await accent(), 'rgb(47, 87, 221)')
  })

  await t.test('a saved draft stays, the toggle says so, and then leaves', async (t) => {
    await open(all)
    await field('Title').fill('Kept')
    await field('Banner').fill('Kept')
    await shows(t, () => toggle.textContent(), on)
    const saysSo = page.locator('.fm-try[aria-disabled=true]:visible').filter({ hasText: 'Saved' }).waitFor()
    await save.click()
    await saysSo // for two seconds
    await status.getByText('2 settings saved').waitFor()
    await shows(t, () => page.locator('.fm-try').count(), 0)
    for (const part of [title, banner]) await shows(t, () => part.textContent(), 'Kept')
    await field('Title').fill('Next')
    await shows(t, () => title.textContent(), 'Next')
    await page.getByRole('button', { name: 'Discard' }).click()
    await shows(t, () => title.textContent(), 'Kept')
  })

  /** Does something after which the page reads anew what is around it, and waits for that. */
  const readAnew = async (act: () => Promise<unknown>) => {
    await page.locator('.fm-top').evaluate((top) => top.setAttribute('data-before', ''))
    await act()
    await page.locator('.fm-top:not([data-before])').waitFor()
    await frames(page)
  }

  await t.test('what is tried stays when something else is reset', async (t) => {
    await open(all)
    await app.settings.set(definitions.website, 'https://other.example/')
    await visited.reload()
    await field('Title').fill('Draft')
    await shows(t, () => title.textContent(), 'Draft')
    await readAnew(() => page.getByRole('button', { name: 'Reset Website' }).click())
    t.equal(await title.textContent(), 'Draft')
    t.equal(await toggle.textContent(), on)
    await page.getByRole('button', { name: 'Discard' }).click()
    await shows(t, () => title.textContent(), 'Fastify Modular')
  })

  await t.test('after a save in another tab, Discard shows what is saved now', async (t) => {
    await open(all)
    await field('Title').fill('Draft')
    await shows(t, () => title.textContent(), 'Draft')
    const other = await visited.browser.newPage()
    await other.goto(page.url())
    await other.getByLabel('Title', { exact: true }).fill('Theirs')
    await readAnew(() => other.getByRole('button', { name: /^Save 1/ }).click())
    await other.close()
    t.equal(await title.textContent(), 'Draft')
    await page.getByRole('button', { name: 'Discard' }).click()
    await shows(t, () => title.textContent(), 'Theirs')
  })

  await t.test('what is entered while a save is under way stays after it', async (t) => {
    await open(all)
    let answer = (): void => undefined
    const held = new Promise<void>((resolve) => (answer = resolve))
    await page.route('**/api/settings/bulk', (route) => held.then(() => route.continue()))
    await field('Title').fill('Sent')
    await save.click()
    await field('Title').fill('Sent, and more')
    await shows(t, () => title.textContent(), 'Sent, and more')
    await readAnew(async () => answer())
    await page.unroute('**/api/settings/bulk')
    t.equal(await title.textContent(), 'Sent, and more')
    await page.getByRole('button', { name: 'Discard' }).click()
    await shows(t, () => title.textContent(), 'Sent')
  })

  await t.test('of a theme that was saved and put back nothing stays', async (t) => {
    await open(all)
    await choose('user.theme', 'dark')
    await readAnew(() => save.click())
    await shows(t, () => html.getAttribute('data-theme'), 'dark')
    await readAnew(() => page.getByRole('button', { name: 'Undo', exact: true }).click())
    await shows(t, () => html.getAttribute('data-theme'), 'auto')
  })

  await t.test(
    'a default does not show to a reader with a value of their own, and the row says why',
    async (t) => {
      await open(all)
      await choose('user.theme', 'dark')
      await page.locator('html[data-theme=dark]').waitFor()
      t.equal(await row('user.theme').getByText('You have your own value').count(), 0)
      await page.getByRole('button', { name: 'Discard' }).click()
      await page.locator('html:not([data-theme=dark])').waitFor()
      await app.settings.set(definitions.theme, 'light', { userId: 'ada' })
      await visited.reload()
      await choose('user.theme', 'dark')
      await row('user.theme').getByText('You have your own value').waitFor()
      await frames(page)
      t.equal(await html.getAttribute('data-theme'), 'auto')
      t.equal(await toggle.count(), 0)
    },
  )

  await t.test(
    'ten letters: no request, one style sheet a frame at most, no layout but that of the header',
    async (t) => {
      await openLive(all)
      await field('Accent colour').fill('#00ff00')
      await field('Title').fill('Title')
      await frames(page)
      let requests = 0
      page.on('request', () => requests++)
      await page.evaluate(() => {
        const counts = { sheets: 0, most: 0, layouts: 0 }
        Object.assign(globalThis, { counts })
        const { replaceSync } = CSSStyleSheet.prototype
        CSSStyleSheet.prototype.replaceSync = function (text) {
          if (counts.sheets++ === 0) requestAnimationFrame(() => (counts.sheets = 0))
          counts.most = Math.max(counts.most, counts.sheets)
          replaceSync.call(this, text)
        }
        for (const name of ['getBoundingClientRect', 'getClientRects', 'scrollIntoView'] as const) {
          const own = Element.prototype[name] as (...args: unknown[]) => unknown
          Object.assign(Element.prototype, {
            [name](this: Element, ...args: unknown[]) {
              if (!this.closest('.fm-top')) counts.layouts++
              return own.apply(this, args)
            },
          })
        }
        const { getComputedStyle } = globalThis
        // With container queries it lays the page out.
        globalThis.getComputedStyle = (...of) => {
          counts.layouts++
          return getComputedStyle(...of)
        }
        for (const name of ['offsetWidth', 'offsetHeight', 'offsetTop', 'offsetLeft'] as const) {
          const own = Object.getOwnPropertyDescriptor(HTMLElement.prototype, name)
          Object.defineProperty(HTMLElement.prototype, name, {
            get(this: HTMLElement) {
              if (!this.closest('.fm-top')) counts.layouts++
              return own?.get?.call(this) as number
            },
          })
        }
        // A drag: more colours in one frame than it shows.
        const color = document.querySelector<HTMLInputElement>('[data-key="app.accent"] .fm-swatch')
        for (let step = 16; step < 36; step++) {
          if (!color) break
          color.value = `#${step.toString(16)}0000`
          color.dispatchEvent(new Event('input', { bubbles: true }))
        }
      })
      await field('Title').pressSequentially('abcdefghij')
      await shows(t, () => title.textContent(), 'Titleabcdefghij')
      await frames(page)
      const counts = await page.evaluate(() => (globalThis as unknown as { counts: object }).counts)
      t.match(counts, { most: 1, layouts: 0 })
      t.equal(requests, 0)
    },
  )
})

test('secrets and System settings are never previewed, whatever the host asks for', async (t) => {
  const visited = await visit(t, {
    modules: [plainHost],
    ui,
    settings: { definitions: [definitions, { density }] },
  })
  if (!visited) return
  const { page, complaints } = visited
  // The server refuses such a preview at boot: this is what the page does without it.
  await page.route('**/settings/manage.json', async (route) => {
    const response = await route.fetch()
    const preview = { 'app.title': 'title', 'app.api_token': 'banner', 'mail.host': 'banner' }
    await route.fulfill({ response, json: { ...(await response.json()), preview } })
  })
  await openPlain(visited, '<fm-settings page="manage"></fm-settings>')
  await page.evaluate(() => {
    document.addEventListener('fm-preview', (event) => {
      const { detail } = event as CustomEvent<object>
      document.body.dataset['preview'] = `${document.body.dataset['preview'] ?? ''}${JSON.stringify(detail)}`
    })
  })
  const element = page.locator('fm-settings')
  const seen = () => page.locator('body').getAttribute('data-preview')
  const search = element.getByRole('searchbox')
  await search.fill('api token')
  await element.locator('[data-key="app.api_token"] input').fill('hush-4711')
  await search.fill('smtp host')
  await element.locator('[data-key="mail.host"] input').fill('hush.example')
  await frames(page)
  t.equal(await seen(), null)

  await t.test('an element reports to its host, and has the toggle in its bar', async (t) => {
    await search.fill('title')
    await element.locator('[data-key="app.title"] input').fill('Hi')
    await shows(t, () => element.locator('.fm-bar .fm-try').textContent(), on)
    await shows(t, seen, '{"key":"app.title","value":"Hi"}')
    await element.locator('.fm-bar .fm-try').click()
    await frames(page)
    await shows(t, seen, '{"key":"app.title","value":"Hi"}{"key":"app.title"}')
    t.same(complaints, [])
  })

  await t.test('an element that is moved goes on; one that is taken away shows what is saved', async (t) => {
    await element.locator('[data-key="app.title"] input').fill('Bye')
    await shows(t, () => element.locator('.fm-bar .fm-try').textContent(), on)
    await element.evaluate((moved) => document.body.prepend(moved))
    await frames(page)
    await shows(t, () => element.locator('[data-key="app.title"] input').inputValue(), 'Bye')
    t.ok((await seen())?.endsWith('{"key":"app.title","value":"Bye"}'))
    const last = await element.evaluate((node) => {
      const heard = new Promise<unknown>((resolve) =>
        node.addEventListener('fm-preview', (event) => resolve((event as CustomEvent<unknown>).detail)),
      )
      node.remove()
      return heard
    })
    t.same(last, { key: 'app.title', value: undefined })
    t.same(complaints, [])
  })
})
