/** `<fm-settings>` on pages of hosts that have no front-end tooling. */
import type { Page } from 'playwright-core'
import { test } from 'tap'
import { problems } from '../support/axe.js'
import { accentShades } from '@fastify-modular/settings-ui'
import { shows } from '@fastify-modular/test-support/shows'
import { until } from '@fastify-modular/test-support/until'
import { definitions } from '../support/definitions.js'
import { openPlain, plainHost, plainPath } from '../support/plain-host.js'
import { phone, visit } from '../support/visit.js'

/** Keeps requests waiting until the function that it returns is called. */
async function hold(page: Page, pattern: string): Promise<() => void> {
  let answer = (): void => undefined
  const held = new Promise<void>((resolve) => (answer = resolve))
  await page.route(pattern, async (route) => {
    await held
    await route.continue()
  })
  return () => answer()
}

const both = '<fm-settings id="admin" page="manage"></fm-settings><fm-settings id="mine"></fm-settings>'

test('the administration and the preferences as elements of one page', async (t) => {
  const visited = await visit(t, { modules: [plainHost], ui: { theme: { setting: 'user.theme' } } })
  if (!visited) return
  const { page, app, url, writes, complaints } = visited
  const admin = page.locator('#admin')
  const mine = page.locator('#mine')
  const own = page.locator('#own')
  const port = admin.getByLabel('SMTP port', { exact: true })
  const search = admin.getByRole('searchbox')
  /** What has the focus, through all shadow roots. */
  const focused = () =>
    page.evaluate(() => {
      let element = document.activeElement
      while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
      return element?.id || element?.textContent || ''
    })
  const openMail = async () => {
    await openPlain(visited, both)
    await admin.getByRole('button', { name: 'Mail' }).click()
    await port.waitFor()
  }

  await t.test(
    'a strict policy refuses nothing, axe finds nothing, styles of the host stay outside',
    async (t) => {
      await openPlain(visited, both)
      await shows(t, () => admin.getByRole('heading', { level: 1 }).textContent(), 'Settings')
      await shows(t, () => mine.getByRole('heading', { level: 1 }).textContent(), 'Preferences')
      const drawn = await admin.locator('h1').evaluate((heading) => {
        const { fontStyle, textTransform, fontFamily } = getComputedStyle(heading)
        return [fontStyle, textTransform, fontFamily]
      })
      t.same(drawn, ['normal', 'none', 'system-ui, sans-serif'])
      t.same(await problems(page), [])
      t.same(complaints, [])
    },
  )

  await t.test(
    'in the scheme of the document, or in that of its setting, which changes nothing around it',
    async (t) => {
      const background = (element: typeof mine) =>
        element.locator('.fm-embed').evaluate((around) => getComputedStyle(around).backgroundColor)
      const [light, dark] = ['rgb(247, 247, 249)', 'rgb(12, 13, 16)']
      await openPlain(visited, both)
      t.same([await background(admin), await background(mine)], [light, light])
      await mine.getByRole('radio', { name: 'dark' }).check()
      await mine.locator('.fm-embed[data-theme=dark]').waitFor()
      t.same([await background(admin), await background(mine)], [light, dark])
      t.equal(await page.locator('html').getAttribute('data-theme'), null)
      t.same(await problems(page), [])
      await page.locator('html').evaluate((html) => html.setAttribute('class', 'is-dark'))
      await shows(t, () => background(admin), dark)
    },
  )

  await t.test('the host learns what was saved; its address and its title stay', async (t) => {
    await openMail()
    const [address, steps] = [page.url(), await page.evaluate(() => history.length)]
    await port.fill('0')
    await port.press('Enter')
    await admin.getByRole('button', { name: '1 needs attention', exact: true }).waitFor()
    await shows(t, () => page.title(), 'Plain host')
    await port.fill('25')
    await port.press('Control+s')
    await page.locator('body[data-events*=saved]').waitFor()
    const events = () => page.locator('body').getAttribute('data-events')
    await shows(t, events, 'admin fm-dirty true; admin fm-dirty false; admin fm-saved mail.port; ')
    t.equal(app.settings.get(definitions.port), 25)
    await page.clock.install()
    await search.fill('title')
    await admin.locator('[data-key="app.title"]').waitFor()
    await page.clock.runFor(1000) // the address of a page follows within
    t.same([page.url(), await page.evaluate(() => history.length)], [address, steps])
    await admin.getByRole('button', { name: 'More for Title' }).click()
    await admin.getByRole('menuitem', { name: 'Copy link' }).click()
    await page.clock.runFor(1000)
    t.equal(page.url(), address)
  })

  await t.test('a link to a setting on the page of the host leads to it', async (t) => {
    await openPlain(visited, both, '#setting:mail.port')
    await page.waitForFunction(() =>
      document
        .querySelector('#admin')
        ?.shadowRoot?.activeElement?.closest('[data-key="mail.port"][data-found]'),
    )
    t.equal(await focused(), await port.getAttribute('id'))
  })

  await t.test("keys are the element's where it has the focus, and the host's elsewhere", async (t) => {
    await openMail()
    await own.focus()
    await page.keyboard.press('Control+k')
    await shows(t, focused, 'own')
    await port.fill('26')
    await own.focus()
    await page.keyboard.press('Control+s')
    t.same(writes, [])
    await port.press('Control+s')
    await admin.getByRole('status').getByText('1 setting saved').waitFor()
    t.equal(await focused(), await port.getAttribute('id'))
    await page.keyboard.press('Control+k')
    await admin.locator('[role=searchbox]:focus').waitFor()
    await page.keyboard.type('smtp')
    await admin.getByRole('button', { name: 'Clear search' }).waitFor()
    await page.keyboard.press('Enter')
    await admin.locator('[data-found]').waitFor()
    t.equal(await mine.locator('[data-found]').count(), 0)
  })

  await t.test('menus and dialogs take the focus and give it back', async (t) => {
    await openMail()
    await port.fill('27')
    const review = admin.getByRole('button', { name: 'Review' })
    await review.click()
    await admin.getByRole('dialog', { name: 'Review 1 change' }).waitFor()
    await shows(t, focused, 'Review 1 change')
    t.same(await problems(page), [])
    await page.keyboard.press('Escape')
    await admin.getByRole('dialog').waitFor({ state: 'detached' })
    await shows(t, focused, 'Review')
    const more = admin.getByRole('button', { name: 'More for SMTP port' })
    await more.press('Enter')
    await admin.getByRole('menuitem', { name: 'History' }).press('ArrowDown')
    await shows(t, focused, 'Copy link')
    await page.keyboard.press('Escape')
    await admin.getByRole('menu').waitFor({ state: 'detached' })
    await more.and(admin.locator(':focus')).waitFor()
  })

  await t.test('a save that ends later does not take the focus from the host', async (t) => {
    await openMail()
    const answer = await hold(page, '**/api/settings/bulk')
    await port.fill('28')
    await port.press('Enter')
    await own.focus()
    answer()
    await admin.getByRole('status').getByText('1 setting saved').waitFor()
    await shows(t, focused, 'own')
    await page.unroute('**/api/settings/bulk')
  })

  await t.test('at 390 px nothing is wider than the window', async (t) => {
    await openPlain(visited, both)
    await page.setViewportSize(phone)
    await admin.getByRole('button', { name: 'Groups: General' }).click()
    await admin.getByRole('button', { name: 'Mail' }).click()
    await port.fill('0')
    await port.press('Enter')
    await admin.getByRole('button', { name: '1 needs attention', exact: true }).waitFor()
    await shows(t, () => page.evaluate(() => document.documentElement.scrollWidth), 390)
    t.same(await problems(page), [])
  })

  await t.test('an ended session is renewed in a tab that closes itself', async (t) => {
    await openMail()
    await visited.browser.clearCookies()
    await port.fill('29')
    await port.press('Enter')
    const link = admin.getByRole('link', { name: 'Sign in…' })
    t.equal(await link.evaluate((anchor: HTMLAnchorElement) => anchor.href), `${url}/settings/signed-in`)
  })
})

test('an element takes over what a save changes of its look, and keeps what is entered', async (t) => {
  const visited = await visit(t, {
    modules: [plainHost],
    ui: {
      theme: ({ server }) => ({
        tokens: { accent: accentShades(server.settings.get(definitions.color)).token },
      }),
      locale: ({ server }) => (server.settings.get(definitions.title) === 'Deutsch' ? 'de' : 'en'),
    },
  })
  if (!visited) return
  const { page } = visited
  const element = page.locator('fm-settings')
  const field = (name: string) => element.getByLabel(name, { exact: true })
  const accent = () =>
    element.evaluate((each) => getComputedStyle(each).getPropertyValue('--fm-accent').replaceAll(' ', ''))
  await openPlain(visited, '<fm-settings page="manage" keys="app.title app.accent"></fm-settings>')
  await field('Accent colour').fill('#0b6e4f')
  await field('Accent colour').press('Enter')
  await shows(t, accent, accentShades('#0b6e4f').token)
  await field('Title').fill('Deutsch')
  const answer = await hold(page, '**/settings/manage.json')
  await field('Title').press('Enter')
  await field('Title').fill('Entwurf')
  answer()
  await element.locator('.fm-embed[lang=de]').waitFor()
  await element.getByRole('button', { name: 'Verwerfen' }).waitFor()
  await shows(t, () => field('Title').inputValue(), 'Entwurf')
})

test('the life of an element', async (t) => {
  const visited = await visit(t, {
    modules: [plainHost],
    ui: { manage: (caller) => caller?.id !== 'vera' },
  })
  if (!visited) return
  const { page, browser, url, complaints } = visited
  const element = page.locator('fm-settings')
  const port = element.getByLabel('SMTP port', { exact: true })

  await t.test('moved to another place it keeps what was entered', async (t) => {
    await openPlain(visited, '<fm-settings page="manage" group="Mail"></fm-settings><p id="end"></p>')
    await shows(t, () => element.locator('[data-key]').count(), 3, 'one group')
    await shows(t, () => element.getByRole('heading', { level: 1 }).textContent(), 'Mail')
    await port.fill('25')
    await element.evaluate((moved) => document.querySelector('#end')?.append(moved))
    await shows(t, () => page.locator('#end').getByLabel('SMTP port', { exact: true }).inputValue(), '25')
  })

  await t.test(
    'taken away it leaves nothing behind, and shows its settings again when it is back',
    async (t) => {
      await openPlain(visited, '<fm-settings page="manage"></fm-settings>')
      await element.getByRole('searchbox').fill('smtp')
      await element.getByRole('button', { name: 'Clear search' }).waitFor()
      await element.getByRole('searchbox').press('ArrowDown')
      await port.fill('25')
      const [taken, inside] = await Promise.all([
        element.evaluateHandle((each) => each),
        element.evaluateHandle((each) => new WeakRef(each.shadowRoot?.querySelector('.fm-settings') ?? each)),
      ])
      await taken.evaluate((each) => each.remove())
      // The stream of the page knows its followers for another second.
      await until(async () => {
        await page.requestGC()
        return inside.evaluate((reference) => reference.deref() === undefined)
      })
      await shows(t, () => page.evaluate(() => CSS.highlights.get('fm-match')?.size), 0)
      const requests: string[] = []
      page.on('request', (request) => requests.push(request.url()))
      await page.evaluate(() => {
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
        new BroadcastChannel('fm-settings').postMessage('saved')
        dispatchEvent(new Event('focus'))
      })
      await taken.evaluate((each) => document.querySelector('main')?.append(each))
      await element.locator('[data-key]').first().waitFor()
      t.equal(requests[0], `${url}/settings/manage.json`)
    },
  )

  await t.test('other attributes show something else', async (t) => {
    await openPlain(visited, '<fm-settings page="manage"></fm-settings>')
    const set = (name: string, value: string) =>
      element.evaluate((each, [attribute, to]) => each.setAttribute(attribute, to), [name, value] as const)
    await set('page', 'preferences')
    await element.getByRole('heading', { level: 1, name: 'Preferences' }).waitFor()
    await element.locator('[data-key]').first().waitFor()
    await shows(t, () => element.locator('[data-key]').count(), 2)
    await set('group', 'Tables')
    await element.getByRole('heading', { level: 1, name: 'Tables' }).waitFor()
    await element.locator('[data-key]').first().waitFor()
    await shows(t, () => element.locator('[data-key]').count(), 1)
    t.same(complaints, [])
  })

  await t.test('`enter` takes values as they would be typed, before and after it is loaded', async (t) => {
    await openPlain(visited, '<fm-settings page="manage"></fm-settings>')
    const enter = (values: Record<string, string>) =>
      element.evaluate(
        (each, given) => (each as HTMLElement & { enter(all: object): void }).enter(given),
        values,
      )
    const title = element.getByLabel('Title', { exact: true })
    await enter({ 'app.title': 'Entered', 'no.such': 'x', __proto__: 'x' })
    await element.getByText('1 unsaved change', { exact: true }).waitFor()
    await shows(t, () => title.inputValue(), 'Entered')
    await enter({ 'mail.port': 'no number' })
    await element.getByText('2 unsaved changes', { exact: true }).waitFor()
    await element.getByText('1 needs attention').first().waitFor()
    t.same(visited.writes, [], 'nothing is saved')
  })

  await t.test('with `keys` it is some settings in their order, under the heading of the host', async (t) => {
    await openPlain(
      visited,
      '<h1>Quick settings</h1><fm-settings page="manage" keys=" mail.port  app.title no.such "></fm-settings>',
    )
    const keys = () =>
      element.locator('[data-key]').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-key')))
    await shows(t, keys, ['mail.port', 'app.title'])
    await shows(t, () => element.getByRole('heading').count(), 0)
    await shows(t, () => element.getByRole('searchbox').count(), 0)
    t.same(await problems(page), [])
    await port.fill('26')
    await element.getByLabel('Title', { exact: true }).press('Control+s')
    await element.getByRole('status').getByText('1 setting saved').waitFor()
    await element.evaluate((each) => each.setAttribute('keys', 'mail.host'))
    await element.locator('[data-key="mail.host"]').waitFor()
    await shows(t, keys, ['mail.host'])
    t.same(complaints, [])
  })

  await t.test('its parts take styles of the host', async (t) => {
    await openPlain(visited, '<fm-settings page="manage" class="is-branded"></fm-settings>')
    for (const part of ['heading', 'row'] as const) {
      const colour = element
        .locator(`[part=${part}]`)
        .first()
        .evaluate((each) => getComputedStyle(each).color)
      t.equal(await colour, 'rgb(1, 2, 3)', part)
    }
    for (const part of ['navigation', 'search', 'group'])
      await shows(t, () => element.locator(`[part=${part}]`).count(), 1, part)
  })

  await t.test('with `address` a link opens the group, and the back button leaves it', async (t) => {
    await openPlain(visited, '<fm-settings page="manage" address></fm-settings>')
    const address = page.url()
    await element.getByRole('link', { name: 'Mail' }).click()
    await port.waitFor()
    t.equal(new URL(page.url()).searchParams.get('group'), 'mail')
    await page.reload()
    await port.waitFor()
    await page.goBack()
    await port.waitFor({ state: 'detached' })
    t.equal(page.url(), address)
  })

  await t.test('says until it is there what stands in it, and then why it is not', async (t) => {
    await browser.addCookies([{ name: 'user', value: 'vera', url }])
    const answer = await hold(page, '**/settings/manage.json')
    await page.goto(url + plainPath('<fm-settings page="manage">One moment</fm-settings>'))
    await page.waitForFunction(() => customElements.get('fm-settings'))
    await shows(t, () => page.getByText('One moment').isVisible(), true)
    answer()
    await element.getByRole('alert').waitFor()
    await shows(t, () => element.getByRole('alert').textContent(), /You do not have permission/)
    await browser.addCookies([{ name: 'user', value: 'ada', url }])
    await element.getByRole('button', { name: 'Try again' }).click()
    await element.locator('[data-key]').first().waitFor()
  })

  await t.test('without a session at its first load it leads to where there is one', async (t) => {
    await browser.clearCookies()
    await page.goto(url + plainPath('<fm-settings page="manage"></fm-settings>'))
    const signIn = element.getByRole('alert').getByRole('link', { name: 'Sign in…' })
    t.equal(await signIn.evaluate((anchor: HTMLAnchorElement) => anchor.href), `${url}/settings/signed-in`)
    await browser.addCookies([{ name: 'user', value: 'ada', url }])
    await element.getByRole('button', { name: 'Try again' }).click()
    await element.locator('[data-key]').first().waitFor()
  })

  await t.test('a group that does not exist is not said to be an application without settings', async (t) => {
    await page.goto(url + plainPath('<fm-settings page="manage" group="Mial"></fm-settings>'))
    await element.getByText('There are no settings here.').waitFor()
    await shows(t, () => element.getByRole('heading', { level: 1 }).textContent(), 'Mial')
  })

  await t.test('texts that do not come in time are the English ones', async (t) => {
    const other = await browser.newPage()
    await other.setExtraHTTPHeaders({ 'accept-language': 'de' })
    await hold(other, '**/assets/de.*.json') // and never answered
    await other.addInitScript(() => {
      const { fetch } = globalThis
      globalThis.fetch = async (input, init) =>
        fetch(input, String(input).includes('/de.') && init?.signal ? { signal: AbortSignal.abort() } : init)
    })
    await other.goto(url + plainPath('<fm-settings></fm-settings>'))
    await other.getByText('Saved as you go.').waitFor()
    await other.getByRole('heading', { level: 1, name: 'Meine Einstellungen' }).waitFor()
    await shows(t, () => other.locator('.fm-embed').getAttribute('lang'), 'de')
  })
})
