/** What others change shows in the rows of an open page: in the prebuilt pages, with React, and in the element. */
import { SettingScope } from '@fastify-modular/settings'
import type { FastifyInstance } from 'fastify'
import type { Page } from 'playwright-core'
import { test } from 'tap'
import { problems } from '../support/axe.js'
import { boxOf } from '../support/looks.js'
import { openPlain, plainHost } from '../support/plain-host.js'
import { prebuiltEntry, serve } from '../support/react-flavour.js'
import { phone, visit } from '../support/visit.js'

const { Application } = SettingScope

const people = async (ids: readonly string[]) =>
  Object.fromEntries(ids.map((id) => [id, id === 'eli' ? 'Eli' : id]))

const save = (app: FastifyInstance, key: string, value: string | boolean) =>
  app.settings.contract.setSetting(
    key,
    value,
    key === 'mail.password' ? SettingScope.System : Application,
    undefined,
    {
      actor: 'eli',
    },
  )

/** The page follows: its part for the changes of others is loaded, and the stream is open. */
async function opened({ page, open }: { page: Page; open: (path: string) => Promise<void> }, path: string) {
  const stream = page.waitForResponse((response) => response.url().endsWith('/api/settings/stream'))
  await open(path)
  await stream
}

const all = '/settings/manage?group=general'

test('what others change on a page', async (t) => {
  const visited = await visit(t, { settings: { findPeople: people }, modules: [plainHost] })
  if (!visited) return
  const { page, app, row, field, save: button, status, complaints, browser, url, open, writes, bar } = visited

  await t.test('the value, the one before and the name; a tint that goes, a sentence once', async (t) => {
    await page.clock.install()
    await opened(visited, all)
    await save(app, 'app.title', 'Theirs')
    const title = row('app.title')
    await title.getByText('Fastify Modular').waitFor()
    t.equal(await field('Title').inputValue(), 'Theirs')
    t.match(
      await title.locator('.fm-pill').textContent(),
      /Fastify Modular.* → .*Theirs.* · .*Eli.*, just now/,
    )
    t.ok(await title.getAttribute('data-news'))
    await page.clock.runFor(10)
    await status.getByText('Eli changed Title').waitFor({ state: 'attached' })
    t.same(await problems(page), [])
    await page.clock.runFor(4000)
    t.equal(await title.getAttribute('data-news'), null)
    t.match(await title.locator('.fm-pill').textContent(), /just now/)
    await page.clock.runFor(60_000)
    t.notMatch(await title.locator('.fm-pill').textContent(), /just now/)
    t.match(await title.locator('.fm-pill').textContent(), /Eli.*, \d/)
    t.same(complaints, [])
  })

  await t.test('a value fades in, unless the reader wants less motion', async (t) => {
    await page.clock.install()
    await opened(visited, all)
    await page.evaluate(() => {
      const { animate } = Element.prototype
      Element.prototype.animate = function (...how) {
        document.body.dataset['faded'] = this.closest('[data-key]')?.getAttribute('data-key') ?? ''
        return animate.apply(this, how)
      }
    })
    await save(app, 'app.title', 'Theirs')
    await row('app.title').getByText('Fastify Modular').waitFor()
    await page.clock.runFor(100)
    t.equal(await page.locator('body').getAttribute('data-faded'), null)
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    await save(app, 'app.sign_up', true)
    await row('app.sign_up').getByText('Off').waitFor()
    await page.clock.runFor(100)
    t.equal(await page.locator('body').getAttribute('data-faded'), 'app.sign_up')
  })

  await t.test('a sentence at most each ten seconds', async (t) => {
    await page.clock.install()
    await opened(visited, all)
    await save(app, 'app.title', 'One')
    await page.clock.runFor(10)
    await status.getByText('Eli changed Title').waitFor({ state: 'attached' })
    await save(app, 'app.sign_up', true)
    await save(app, 'app.title', 'Two')
    await row('app.sign_up').getByText('Off').waitFor()
    await page.clock.runFor(9000)
    t.equal(await status.getByText('2 settings').count(), 0)
    await page.clock.runFor(1000)
    await status.getByText('Eli changed 2 settings').waitFor({ state: 'attached' })
    t.equal(await page.locator('[aria-live=assertive], [role=alert]').count(), 0)
  })

  await t.test('a draft and another value stand side by side before saving', async (t) => {
    await opened(visited, '/settings/manage?q=title')
    await field('Title').fill('Mine')
    await save(app, 'app.title', 'Theirs')
    await row('app.title').getByRole('button', { name: 'Take Eli’s (Theirs)' }).waitFor()
    t.equal(await field('Title').inputValue(), 'Mine')
    await bar.getByText('1 to decide').waitFor()
    await button.click()
    await row('app.title').and(page.locator('[data-state=conflict]')).waitFor()
    t.equal(writes.length, 0)
    await row('app.title').getByRole('button', { name: 'Keep mine (Mine)' }).click()
    await button.click()
    await status.getByText('1 setting saved').waitFor()
    t.equal(await app.settings.contract.getSettingAs('app.title', Application), 'Mine')
  })

  await t.test('a secret says what saving does', async () => {
    await opened(visited, '/settings/manage?group=mail')
    await field('SMTP password').fill('mine')
    await save(app, 'mail.password', 'theirs')
    await row('mail.password').getByText('Eli changed this secret. Saving replaces it.').waitFor()
  })

  await t.test(
    'the field that has the focus neither changes nor moves; it does when it is left',
    async (t) => {
      await opened(visited, all)
      await field('Title').focus()
      await save(app, 'app.title', 'Theirs')
      await save(app, 'app.sign_up', true)
      await row('app.sign_up').getByText('Off').waitFor()
      t.equal(await field('Title').inputValue(), 'Fastify Modular')
      await page.keyboard.press('Tab')
      await row('app.title').getByText('Fastify Modular').waitFor()
      t.equal(await field('Title').inputValue(), 'Theirs')
    },
  )

  await t.test('nothing moves under the pointer, nor where one writes', async (t) => {
    await opened(visited, '/settings/manage?group=appearance')
    await field('Accent colour').fill('#111111')
    const below = row('app.style')
    const accent = row('app.accent')
    const take = accent.getByRole('button', { name: 'Take Eli’s (#222222)' })
    const place = () => boxOf(below.getByText('dense', { exact: true }))
    await below.hover()
    const before = await place()
    await save(app, 'app.accent', '#222222')
    await save(app, 'app.banner', 'Several\nlines\nof\ntext')
    await save(app, 'user.theme', 'dark')
    await row('user.theme').getByText('just now').waitFor()
    t.same(await place(), before)
    t.equal(await accent.getAttribute('data-state'), 'unsaved')
    t.equal(await field('Banner').inputValue(), '')
    await page.mouse.move(1, 1)
    await take.waitFor()
    t.ok((await place()).y > before.y)

    await opened(visited, '/settings/manage?group=appearance')
    await field('Accent colour').fill('#111111')
    await field('Banner').focus()
    await below.hover()
    await page.keyboard.press('End')
    await save(app, 'app.accent', '#222222')
    await save(app, 'user.theme', 'dark')
    await row('user.theme').getByText('just now').waitFor()
    t.equal(await take.count(), 0, 'one is writing below')
    await field('Accent colour').focus()
    await take.waitFor()
  })

  await t.test('own changes in another window have no name', async (t) => {
    await opened(visited, all)
    const other = await browser.newPage()
    await other.goto(url + all)
    await other.getByLabel('Title', { exact: true }).fill('From the other window')
    await other.keyboard.press('Control+s')
    await page.waitForFunction(() =>
      document.querySelector<HTMLInputElement>('#fm-app\\.title')?.value.startsWith('From'),
    )
    await save(app, 'app.sign_up', true)
    await row('app.sign_up').getByText('Off').waitFor()
    t.equal(await row('app.title').locator('.fm-pill').count(), 0)
    t.equal(await row('app.title').getAttribute('data-news'), null)
    await other.close()
  })

  await t.test('offline it says of when its values are, and then that it is not', async () => {
    await opened(visited, all)
    await browser.setOffline(true)
    await page.route('**/api/settings/stream', (route) => route.abort())
    await page.evaluate(() => dispatchEvent(new Event('pagehide')))
    await page.evaluate(() => dispatchEvent(new Event('pageshow')))
    await page.getByText(/^Offline, showing \d/).waitFor()
    await save(app, 'app.title', 'Meanwhile')
    await page.unroute('**/api/settings/stream')
    await browser.setOffline(false)
    await page.waitForFunction(
      () => document.querySelector<HTMLInputElement>('#fm-app\\.title')?.value === 'Meanwhile',
    )
    await page.getByText(/^Offline, showing/).waitFor({ state: 'detached' })
  })

  await t.test('preferences that were changed elsewhere follow', async () => {
    await opened({ page, open: (path) => open(path, 'vera') }, '/settings/preferences')
    await app.settings.contract.setSetting('user.theme', 'dark', SettingScope.User, 'vera')
    await row('user.theme').getByRole('radio', { name: 'dark', checked: true }).waitFor()
  })

  await t.test('in the element, which has a shadow root', async (t) => {
    const stream = page.waitForResponse((response) => response.url().endsWith('/api/settings/stream'))
    await openPlain(visited, '<fm-settings page="manage" group="Contact"></fm-settings>')
    await stream
    complaints.length = 0
    await save(app, 'contact.website', 'https://eli.example/')
    await row('contact.website').getByText('Eli').waitFor()
    t.equal(await field('Website').inputValue(), 'https://eli.example/')
    t.same(complaints, [])
  })

  await t.test('on a phone, with Arabic texts', async (t) => {
    const language = 'ar'
    await opened({ page, open: (path) => open(path, 'ada', { size: phone, language }) }, all)
    await save(app, 'app.title', 'Theirs')
    await row('app.title').getByText('الآن').waitFor()
    t.same(await problems(page), [])
    t.equal(await page.evaluate(() => document.documentElement.scrollWidth), phone.width)
  })

  await t.test('with React', async () => {
    await serve(page, { file: prebuiltEntry })
    await opened(visited, all)
    await save(app, 'app.title', 'Theirs')
    await row('app.title').getByText('Eli').waitFor()
    await field('Title').fill('Mine')
    await save(app, 'app.title', 'Again')
    await row('app.title').getByRole('button', { name: 'Take Eli’s (Again)' }).waitFor()
  })
})

test('an API without a stream: the pages load nothing for it, and ask for nothing in vain', async (t) => {
  const visited = await visit(t, { settings: { stream: false } })
  if (!visited) return
  const { page, app, row, field, complaints, open, reload } = visited
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  await open('/settings/manage')
  await reload()
  await field('Title').fill('Mine')
  await save(app, 'app.title', 'Theirs')
  await page.evaluate(() => dispatchEvent(new Event('focus')))
  await row('app.title').getByRole('button', { name: /^Take/ }).waitFor()
  t.same(
    requests.filter((each) => /stream|others/.test(each)),
    [],
  )
  t.same(complaints, [])
})
