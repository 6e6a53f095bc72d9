/** What others change shows in the rows of an open page: in the prebuilt pages, with React, and in the element. */
import { SettingScope } from '@fastify-modular/settings'
import { shows } from '@fastify-modular/test-support/shows'
import { until } from '@fastify-modular/test-support/until'
import type { FastifyInstance } from 'fastify'
import { test } from 'tap'
import { problems } from '../support/axe.js'
import { boxOf } from '../support/looks.js'
import { openPlain, plainHost } from '../support/plain-host.js'
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

const all = '/settings/manage?group=general'

test('what others change on a page', async (t) => {
  const visited = await visit(t, { settings: { findPeople: people }, modules: [plainHost] })
  if (!visited) return
  const {
    page,
    app,
    row,
    field,
    save: button,
    status,
    complaints,
    browser,
    url,
    writes,
    bar,
    openLive,
  } = visited

  await t.test('the value, the one before and the name; a tint that goes, a sentence once', async (t) => {
    await page.clock.install()
    await openLive(all)
    await save(app, 'app.title', 'Theirs')
    const title = row('app.title')
    await title.getByText('Fastify Modular').waitFor()
    await shows(t, () => field('Title').inputValue(), 'Theirs')
    await shows(
      t,
      () => title.locator('.fm-pill').textContent(),
      /Fastify Modular.* → .*Theirs.* · .*Eli.*, just now/,
    )
    await shows(t, () => title.getAttribute('data-news'), /./)
    await page.clock.runFor(10)
    await status.getByText('Eli changed Title').waitFor({ state: 'attached' })
    t.same(await problems(page), [])
    await page.clock.runFor(4000)
    await shows(t, () => title.getAttribute('data-news'), null)
    await shows(t, () => title.locator('.fm-pill').textContent(), /just now/)
    await page.clock.runFor(60_000)
    await shows(t, () => title.locator('.fm-pill').textContent(), /Eli.*, \d/) // no longer "just now"
    t.same(complaints, [])
  })

  await t.test('a value fades in, unless the reader wants less motion', async (t) => {
    await page.clock.install()
    await openLive(all)
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
    await shows(t, () => page.locator('body').getAttribute('data-faded'), 'app.sign_up')
  })

  await t.test('a sentence at most each ten seconds', async (t) => {
    await page.clock.install()
    await openLive(all)
    await page.clock.pauseAt(Date.now() + 10_000) // a slow machine takes no part of the ten seconds
    await save(app, 'app.title', 'One')
    await until(async () => {
      await page.clock.runFor(10)
      return (await status.getByText('Eli changed Title').count()) > 0
    })
    const entries = [
      { key: 'app.sign_up', scope: Application, value: true },
      { key: 'app.title', scope: Application, value: 'Two' },
    ]
    await app.settings.contract.setMany(entries, { actor: 'eli' })
    await row('app.sign_up').getByText('Off').waitFor()
    await page.clock.runFor(9000)
    t.equal(await status.getByText('2 settings').count(), 0)
    await page.clock.runFor(1000)
    await status.getByText('Eli changed 2 settings').waitFor({ state: 'attached' })
    t.equal(await page.locator('[aria-live=assertive], [role=alert]').count(), 0)
    await page.clock.resume()
  })

  await t.test('a draft and another value stand side by side before saving', async (t) => {
    await openLive('/settings/manage?q=title')
    await field('Title').fill('Mine')
    await save(app, 'app.title', 'Theirs')
    await row('app.title').getByRole('button', { name: 'Take Eli’s (Theirs)' }).waitFor()
    await shows(t, () => field('Title').inputValue(), 'Mine')
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
    await openLive('/settings/manage?group=mail')
    await field('SMTP password').fill('mine')
    await save(app, 'mail.password', 'theirs')
    await row('mail.password').getByText('Eli changed this secret. Saving replaces it.').waitFor()
  })

  await t.test(
    'the field that has the focus neither changes nor moves; it does when it is left',
    async (t) => {
      await openLive(all)
      await field('Title').focus()
      await save(app, 'app.title', 'Theirs')
      await save(app, 'app.sign_up', true)
      await row('app.sign_up').getByText('Off').waitFor()
      t.equal(await field('Title').inputValue(), 'Fastify Modular')
      await page.keyboard.press('Tab')
      await row('app.title').getByText('Fastify Modular').waitFor()
      await shows(t, () => field('Title').inputValue(), 'Theirs')
    },
  )

  await t.test('nothing moves under the pointer, nor where one writes', async (t) => {
    await openLive('/settings/manage?group=appearance')
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
    await shows(t, () => accent.getAttribute('data-state'), 'unsaved')
    t.equal(await field('Banner').inputValue(), '')
    await page.mouse.move(1, 1)
    await take.waitFor()
    t.ok((await place()).y > before.y)

    await openLive('/settings/manage?group=appearance')
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
    await openLive(all)
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
    await openLive(all)
    await browser.setOffline(true)
    await page.route('**/api/settings/stream', (route) => route.abort())
    await page.evaluate(() => dispatchEvent(new Event('pagehide')))
    await page.evaluate(() => dispatchEvent(new Event('pageshow')))
    const line = page.locator('.is-stale') // it is read out, too
    await line.filter({ hasText: /^Offline, showing \d/ }).waitFor()
    await save(app, 'app.title', 'Meanwhile')
    await page.unroute('**/api/settings/stream')
    await browser.setOffline(false)
    await page.waitForFunction(
      () => document.querySelector<HTMLInputElement>('#fm-app\\.title')?.value === 'Meanwhile',
    )
    await line.waitFor({ state: 'detached' })
  })

  await t.test('preferences that were changed elsewhere follow', async () => {
    await openLive('/settings/preferences', 'vera')
    await app.settings.contract.setSetting('user.theme', 'dark', SettingScope.User, 'vera')
    await row('user.theme').getByRole('radio', { name: 'dark', checked: true }).waitFor()
  })

  await t.test('in the element, which has a shadow root', async (t) => {
    await openPlain(visited, '<fm-settings page="manage" group="Contact"></fm-settings>')
    complaints.length = 0
    await save(app, 'contact.website', 'https://eli.example/')
    await row('contact.website').getByText('Eli').waitFor()
    await shows(t, () => field('Website').inputValue(), 'https://eli.example/')
    t.same(complaints, [])
  })

  await t.test('on a phone, with Arabic texts', async (t) => {
    const language = 'ar'
    await openLive(all, 'ada', { size: phone, language })
    await save(app, 'app.title', 'Theirs')
    await row('app.title').getByText('الآن').waitFor()
    t.same(await problems(page), [])
    await shows(t, () => page.evaluate(() => document.documentElement.scrollWidth), phone.width)
  })
})

test('an API without a stream: what others save shows when the window comes back', async (t) => {
  const visited = await visit(t, { settings: { stream: false } })
  if (!visited) return
  const { page, app, row, field, complaints, open, reload } = visited
  await open('/settings/manage')
  await reload()
  await field('Title').fill('Mine')
  await save(app, 'app.title', 'Theirs')
  await page.evaluate(() => dispatchEvent(new Event('focus')))
  await row('app.title').getByRole('button', { name: /^Take/ }).waitFor()
  t.same(
    complaints.filter((each) => !each.includes('status of 400')), // by `/:key`, in place of the stream
    [],
  )
})

for (const endsStreams of [true, false])
  test(`drafts wait while somebody else is signed in, ${endsStreams ? 'and the streams were ended' : 'also where no stream was ended'}`, async (t) => {
    const visited = await visit(t)
    if (!visited) return
    const { page, app, field, bar, browser, url, save: button } = visited
    await page.addInitScript(() => {
      let isVisible = true
      Object.defineProperty(document, 'visibilityState', { get: () => (isVisible ? 'visible' : 'hidden') })
      Reflect.set(globalThis, 'look', (is: boolean) => {
        isVisible = is
        document.dispatchEvent(new Event('visibilitychange'))
      })
    })
    const look = (is: boolean) => page.evaluate(`look(${is})`)
    await visited.openLive(all)
    await field('Title').fill('Mine')
    await look(false)
    await browser.addCookies([{ name: 'user', value: 'eve', url }])
    if (endsStreams) app.settings.endStreams('ada')
    await look(true)
    await bar.getByText('Sign in again').first().waitFor()
    await page.keyboard.press('ControlOrMeta+s')
    await save(app, 'app.style', 'dense') // has come to every stream by the time of the next look
    t.equal(await field('Title').inputValue(), 'Mine')
    t.match(await app.settings.record('app.title'), { value: 'Fastify Modular' })

    await look(false)
    await browser.addCookies([{ name: 'user', value: 'ada', url }])
    await look(true)
    await button.click()
    await bar.getByText('Saved').first().waitFor()
    t.match(await app.settings.record('app.title'), { value: 'Mine' })
  })
