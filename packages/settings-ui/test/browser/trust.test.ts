/** States that do not outlive what they say, and pages that follow to the frame. */
import { setting, SettingScope } from '@fastify-modular/settings'
import { shows } from '@fastify-modular/test-support/shows'
import type { SettingsUiOptions } from '@fastify-modular/settings-ui'
import { test } from 'tap'
import { problems } from '../support/axe.js'
import { definitions } from '../support/definitions.js'
import { boxOf } from '../support/looks.js'
import { phone, visit } from '../support/visit.js'

const { Application } = SettingScope

const ui: SettingsUiOptions = {
  title: ({ server }) => server.settings.get(definitions.title),
  banner: ({ server }) => server.settings.get(definitions.banner) ?? undefined,
  preview: { 'app.title': 'title', 'app.banner': 'banner' },
}
const people = async (ids: readonly string[]) =>
  Object.fromEntries(ids.map((id) => [id, { eli: 'Eli', bob: 'Bob' }[id] ?? id]))

test('states that do not outlive what they say', async (t) => {
  const visited = await visit(t, { ui, settings: { findPeople: people } })
  if (!visited) return
  const { page, app, browser, url, open, openLive, row, field, save, bar, status, complaints } = visited
  const button = (name: string) => bar.getByRole('button', { name, exact: true })

  await t.test('F1: what somebody else saves shows around the page, asked for once a revision', async (t) => {
    await openLive('/settings/manage')
    let asked = 0
    const count = (request: { resourceType(): string }) => void (request.resourceType() === 'xhr' && asked++)
    page.on('request', count)
    const entries = ['app.title', 'app.banner'].map((key) => ({ key, scope: Application, value: 'Theirs' }))
    await app.settings.contract.setMany(entries, { actor: 'eli' })
    await page.locator('.fm-brand').getByText('Theirs').waitFor()
    await page.locator('.fm-banner').getByText('Theirs').waitFor()
    await shows(t, () => page.title(), 'General · Settings · Theirs')
    t.equal(asked, 1)
    page.off('request', count)
  })

  await t.test('F5: an Undo that is under way says so', async (t) => {
    await open('/settings/manage')
    await field('Title').fill('Mine')
    await save.click()
    let answer = (): void => undefined
    const held = new Promise<void>((resolve) => (answer = resolve))
    await page.route('**/revert', (route) => held.then(() => route.continue()))
    await button('Undo').click()
    await bar.getByText('Putting it back…').waitFor()
    await shows(t, () => button('Undo').count(), 0)
    answer()
    await bar.getByText('1 setting is as it was').waitFor()
    await page.unroute('**/revert')
  })

  await t.test('F6: offline it says so at once, and not when it is over', async (t) => {
    await openLive('/settings/manage')
    await field('Title').fill('Kept')
    await browser.setOffline(true)
    await page
      .locator('.is-stale')
      .getByText(/^Offline, showing/)
      .waitFor()
    await status.getByText(/^Offline, showing/).waitFor({ state: 'attached' })
    await save.click()
    await bar.getByText('Offline', { exact: true }).waitFor()
    await browser.setOffline(false)
    await bar.getByText('Back online').waitFor()
    await shows(t, () => bar.getByText('Offline', { exact: true }).count(), 0)
    await shows(t, () => page.getByText(/^Offline, showing/).count(), 0)
    await save.click()
    await status.getByText('1 setting saved').waitFor()
    t.equal(app.settings.get(definitions.title), 'Kept')
  })

  await t.test('F6: being online again is read out once, and shown where something failed', async (t) => {
    await openLive('/settings/preferences')
    await browser.setOffline(true)
    await status.getByText(/^Offline, showing/).waitFor({ state: 'attached' })
    await browser.setOffline(false)
    await status.getByText('Back online').waitFor({ state: 'attached' })
    await shows(t, () => status.getByText(/Offline|Back online/).allTextContents(), ['Back online'])
    t.equal(await bar.count(), 0)
  })

  await t.test('F7: the tab in which one signs in again closes itself; the other one saves', async (t) => {
    await open('/settings/manage?group=general')
    await field('Title').fill('Signed in')
    await browser.clearCookies()
    await save.click()
    const [tab] = await Promise.all([
      page.waitForEvent('popup'),
      bar.getByRole('link', { name: 'Sign in…' }).click(),
    ])
    await tab.waitForURL('**/login?**')
    const returnTo = new URL(tab.url()).searchParams.get('returnTo') ?? ''
    t.equal(returnTo, '/settings/signed-in')
    const closed = tab.waitForEvent('close')
    await tab.goto(`${url}/login?as=ada&returnTo=${returnTo}`).catch(() => undefined) // it may be gone before it is loaded
    await closed
    await page.evaluate(() => dispatchEvent(new Event('focus')))
    await status.getByText('1 setting saved').waitFor()
    t.equal(app.settings.get(definitions.title), 'Signed in')
  })

  await t.test('F7: where it may not close itself, it says what to do', async (t) => {
    await open('/settings/manage')
    const alone = await browser.newPage()
    await alone.route('**/close.js', (route) => route.fulfill({ contentType: 'text/javascript', body: '' }))
    await alone.goto(`${url}/settings/signed-in`)
    await alone.getByRole('heading', { name: 'You are signed in.' }).waitFor()
    t.same(await problems(alone), [])
    await alone.close()
  })

  await t.test('F8: Next leads on from the field that the failed save has shown', async () => {
    await open('/settings/manage')
    for (const name of ['Title', 'SMTP port']) {
      await page.getByRole('searchbox').fill(name)
      await field(name).fill('')
    }
    await page.getByRole('searchbox').fill('')
    await page.keyboard.press('Control+s')
    await row('app.title').locator('input:focus').waitFor()
    await button('Next').click()
    await row('mail.port').locator('input:focus').waitFor()
  })

  await t.test(
    'F9, F21: nothing scrolls where there is nothing; another group begins at the top',
    async (t) => {
      await open('/settings/manage?group=contact')
      const { scrolls, seen } = await page.evaluate(() => ({
        scrolls: document.documentElement.scrollHeight,
        seen: innerHeight,
      }))
      t.equal(scrolls, seen)
      await page.setViewportSize({ width: 1280, height: 420 })
      await page.getByRole('link', { name: 'Appearance' }).click()
      await page.evaluate(() => scrollTo(0, 90))
      await page.getByRole('link', { name: 'Mail' }).click()
      await shows(t, () => page.evaluate(() => scrollY), 0)
      await shows(t, () => page.title(), 'Mail · Settings · Fastify Modular')
    },
  )

  await t.test('F21: Back leads out of a search into the group before it', async (t) => {
    await open('/settings/manage')
    await page.getByRole('link', { name: 'Contact' }).click()
    await page.getByRole('searchbox').pressSequentially('smtp')
    await page.waitForURL('**q=smtp')
    await shows(t, () => page.title(), 'smtp · Settings · Fastify Modular')
    await page.goBack()
    await row('contact.website').waitFor()
    await shows(t, () => page.getByRole('searchbox').inputValue(), '')
  })

  await t.test(
    'F21: while it saves the bar offers nothing else; its message stays with its group',
    async (t) => {
      await open('/settings/manage')
      let answer = (): void => undefined
      const held = new Promise<void>((resolve) => (answer = resolve))
      await page.route('**/bulk', (route) => held.then(() => route.continue()))
      await field('Title').fill('Held')
      await save.click()
      await bar.getByRole('button', { name: 'Saving…' }).waitFor()
      await shows(t, () => bar.getByRole('button').allTextContents(), ['Saving…'])
      answer()
      await bar.getByText('1 setting saved').waitFor()
      await page.unroute('**/bulk')
      await page.getByRole('link', { name: 'Mail' }).click()
      await bar.waitFor({ state: 'detached' })
    },
  )

  await t.test(
    'F21: a colour that is being typed leaves the swatch; an empty date asks for nothing',
    async (t) => {
      await open('/settings/manage?group=appearance')
      const swatch = row('app.accent').locator('[type=color]')
      await field('Accent colour').fill('red')
      await shows(t, () => swatch.inputValue(), '#3b82f6')
      await open('/settings/manage?group=general')
      await shows(t, () => field('Licence expires').getAttribute('step'), '60')
      await shows(t, () => row('app.expires_at').locator('.fm-when').textContent(), /empty/)
    },
  )

  await t.test('F19: at 200 % the header scrolls away and the bar is one line', async (t) => {
    await open('/settings/manage', 'ada', { size: { width: 720, height: 450 } })
    await field('Title').fill('Low')
    t.ok((await boxOf(bar)).height < 52, `one line, ${(await boxOf(bar)).height} px`)
    t.equal(await page.locator('.fm-top').evaluate((top) => getComputedStyle(top).position), 'relative')
  })
  t.same(
    complaints.filter((each) => !/ERR_|status of (?:401|422)/.test(each)),
    [],
  )
})

test('what others change, with faces', async (t) => {
  const visited = await visit(t, { ui, settings: { findPeople: people } })
  if (!visited) return
  const { page, app, openLive, row } = visited
  const set = (key: string, value: string, actor: string) =>
    app.settings.contract.setSetting(key, value, Application, undefined, { actor })

  await t.test('a face in the pill and at the group, a sentence above the rows, nothing moves', async (t) => {
    for (const size of [undefined, phone]) {
      await openLive('/settings/manage?group=appearance', 'ada', size && { size })
      const before = await boxOf(row('app.accent'))
      await set('app.style', 'dense', 'eli')
      await set('app.accent', '#ff0000', 'bob')
      await row('app.accent').locator('.fm-pill .fm-face').waitFor()
      await shows(t, () => row('app.style').locator('.fm-pill .fm-face').textContent(), 'E')
      await page.getByText(/Bob\W* and \W*Eli\W* changed something just now/).waitFor()
      t.equal((await boxOf(row('app.accent'))).y, before.y)
      t.same(await problems(page), [])
      if (size) await page.getByRole('button', { name: /^Groups/ }).click()
      const group = page.getByRole('link', { name: /^Appearance/ })
      await group.locator('.fm-face').last().waitFor()
      await group.locator('.fm-face').last().waitFor()
      await shows(t, () => group.textContent(), /changed just now by \W*Bob\W* and \W*Eli/)
      await shows(t, () => group.locator('.fm-face').count(), 2)
    }
  })

  await t.test('a long value says what has changed when it is asked', async (t) => {
    await openLive('/settings/manage?group=appearance')
    await set('app.banner', 'One\nTwo\nThree', 'ada')
    await page.waitForFunction(() => document.querySelector('textarea')?.value.startsWith('One'))
    await set('app.banner', 'One\n2\nThree', 'eli')
    const show = row('app.banner').getByRole('button', { name: 'Show what' })
    await show.click()
    await row('app.banner').locator('.fm-lines .is-removed').getByText('Two').waitFor()
    const hide = row('app.banner').getByRole('button', { name: 'Hide' })
    await shows(t, () => hide.getAttribute('aria-expanded'), 'true')
    await hide.and(page.locator(':focus')).waitFor()
    t.same(await problems(page), [])
    await hide.click()
    await row('app.banner').locator('.fm-lines').waitFor({ state: 'detached' })
  })

  await t.test('callers who see no history, and the preferences, learn no names', async (t) => {
    await openLive('/settings/manage?group=appearance', 'vera')
    await set('app.style', 'dense', 'eli')
    await row('app.style').getByText('dense').first().waitFor()
    await row('app.style').locator('.fm-pill').waitFor()
    t.equal(await page.locator('.fm-faces').count(), 0)
    await openLive('/settings/preferences')
    await set('user.theme', 'dark', 'eli')
    await row('user.theme').getByRole('radio', { name: 'dark', checked: true }).waitFor()
    t.equal(await page.locator('.fm-face:not(.fm-me *), .fm-aside').count(), 0)
  })
})

test('groups with a face', async (t) => {
  const visited = await visit(t, {
    settings: {
      definitions: [definitions],
      groups: {
        Mail: {
          icon: 'mail',
          description: 'How letters leave.',
          action: { label: 'Open the outbox', href: '/outbox', permission: 'Settings.Update' },
        },
        Contact: { icon: 'users' },
      },
    },
  })
  if (!visited) return
  const { page, open, row } = visited
  for (const [size, colorScheme] of [
    [{ width: 1280, height: 800 }, 'light'],
    [phone, 'dark'],
  ] as const) {
    await open('/settings/manage?group=mail', 'ada', { size, colorScheme })
    await page.locator('.fm-head').getByText('How letters leave.').waitFor()
    t.equal(await page.getByRole('link', { name: 'Open the outbox' }).getAttribute('href'), '../outbox')
    await shows(t, () => page.locator('.fm-mark').isVisible(), size !== phone)
    t.same(await problems(page), [])
    await shows(t, () => page.evaluate(() => document.documentElement.scrollWidth), size.width)
  }
  await page.getByRole('button', { name: /^Groups/ }).click()
  await page.getByRole('link', { name: 'Mail How letters leave.' }).waitFor()
  t.same(await problems(page), [])
  await open('/settings/manage?q=letters')
  await row('mail.host').waitFor()
})

test('activity: a change that its author has put back is one muted entry', async (t) => {
  const visited = await visit(t)
  if (!visited) return
  const { page, app, open } = visited
  await open('/settings/manage')
  const change = async (value: string, actor: string) => {
    await app.settings.contract.setMany(
      [
        { key: 'app.title', scope: Application, value },
        { key: 'app.style', scope: Application, value: 'dense' },
      ],
      { actor },
    )
    return app.settings.status.revision
  }
  await app.settings.revert(await change('One', 'ada'), { actor: 'ada' })
  await app.settings.revert(await change('Two', 'eli'), { actor: 'bob' })
  await open('/settings/manage?view=activity')
  await page.locator('.fm-event').first().waitFor()
  const texts = (await page.locator('.fm-event > p > span').allTextContents()).map((text) => text.trim())
  const at = texts.findIndex((text) => text.includes('put them back'))
  t.match(texts[at], /ada changed 2 settings and put them back/)
  t.equal(texts.filter((text) => text.includes('eli changed 2')).length, 1, 'of two people both stay')
  t.equal(await page.locator('.fm-event').nth(at).getByRole('button').count(), 0)
  t.same(await problems(page), [])
})

test('F20: a page without settings says how to define one, but not in production', async (t) => {
  const visited = await visit(t, { settings: { definitions: [], overrides: {} } })
  if (!visited) return
  const { page, open } = visited
  await open('/settings/manage')
  await page.getByRole('heading', { name: 'There are no settings here.' }).waitFor()
  await page.getByText('setting.text(').waitFor()
  t.same(await problems(page), [])
  const before = process.env['NODE_ENV']
  t.teardown(() =>
    before === undefined ? delete process.env['NODE_ENV'] : (process.env['NODE_ENV'] = before),
  )
  process.env['NODE_ENV'] = 'production'
  await open('/settings/manage')
  await page.getByText('There are no settings here.').waitFor()
  t.equal(await page.getByText('setting.text(').count(), 0)
})

test('one advanced setting takes no fold; a group of the system alone says so', async (t) => {
  const advanced = setting.number('app.port', {
    displayName: 'Port',
    scope: Application,
    advanced: true,
    default: 1,
  })
  const visited = await visit(t, { settings: { definitions: [definitions, { advanced }] } })
  if (!visited) return
  const { page, open, row } = visited
  await open('/settings/manage?group=general')
  await shows(t, () => row('app.port').isVisible(), true)
  t.equal(await page.locator('summary').count(), 0)
  t.equal(await page.locator('.fm-head .fm-pill').count(), 0)
  await page.getByRole('link', { name: 'Mail' }).click()
  await page.locator('.fm-head .fm-pill').getByText('System').waitFor()
})
