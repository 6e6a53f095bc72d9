/** "Keep these changes?": a save that is put back unless it is kept, on the page that made it and on others. */
import { SettingScope } from '@fastify-modular/settings'
import { shows } from '@fastify-modular/test-support/shows'
import type { FastifyInstance } from 'fastify'
import type { Page } from 'playwright-core'
import { type Test, test } from 'tap'
import { problems } from '../support/axe.js'
import { definitions } from '../support/definitions.js'
import { phone, type Visit, visit } from '../support/visit.js'

const { Application, System } = SettingScope
const general = '/settings/manage?group=general'

const people = async (ids: readonly string[]) =>
  Object.fromEntries(ids.map((id) => [id, id === 'eli' ? 'Eli' : 'Ada']))

interface Keeping extends Visit {
  readonly notice: ReturnType<Page['locator']>
}

async function visitKeeping(t: Test): Promise<Keeping | null> {
  const visited = await visit(t, { settings: { findPeople: people } })
  return visited && { ...visited, notice: noticeOf(visited.page) }
}

const noticeOf = (page: Page) => page.getByRole('region', { name: 'Keep these changes?' })

/** Somebody else changes settings, and has to keep them. Returns the revision. */
async function change(
  app: FastifyInstance,
  values: Readonly<Record<string, string | number>>,
  within: number,
) {
  const updates = Object.entries(values).map(([key, value]) => ({
    key,
    value,
    scope: key.startsWith('mail.') ? System : Application,
  }))
  await app.settings.setMany(updates, { confirmWithin: within, actor: 'eli' })
  return app.settings.status.revision
}

const focusedKey = (page: Page) =>
  page.evaluate(() => document.activeElement?.closest('[data-key]')?.getAttribute('data-key'))

test('a save that has to be kept: kept, extended, put back', async (t) => {
  const visited = await visitKeeping(t)
  if (!visited) return
  const { page, app, open, openLive, field, row, bar, status, notice, complaints } = visited

  async function saveFor(value: string, time: string): Promise<void> {
    await field('Title').fill(value)
    await page.getByRole('button', { name: 'Review' }).click()
    await page.getByLabel('Put back unless kept within').selectOption(time)
    t.same(await problems(page), [])
    await page.getByRole('dialog').getByRole('button', { name: 'Save 1 change' }).click()
    await notice.waitFor()
  }

  await t.test('the question stands above the group, with its time and what it is about', async (t) => {
    await open(general)
    await saveFor('New', '5 minutes')
    await notice.getByText('Ada changed 1 setting. Without an answer it goes back at').waitFor()
    await shows(t, () => notice.locator('time').textContent(), /^(5:00|4:\d\d)$/)
    await shows(t, () => notice.getByRole('button').allTextContents(), ['More time', 'Put back now', 'Keep'])
    await status.getByText('You have 5 minutes to keep 1 change in General.').waitFor({ state: 'attached' })
    await row('app.title').getByText('Not kept yet · was Fastify Modular').waitFor()
    await notice.getByText('Show what').click()
    await notice.locator('.fm-diff').getByText('New').waitFor()
    t.same(await problems(page), [])
    t.equal(await bar.getByRole('button', { name: 'Undo' }).count(), 0)
  })

  await t.test('More time keeps the focus, Keep gives it to the setting', async (t) => {
    await open(general)
    await saveFor('New', '1 minute')
    const { revision } = app.settings.status
    const more = notice.getByRole('button', { name: 'More time' })
    await more.press('Enter')
    await shows(t, () => notice.locator('time').textContent(), /^(2:00|1:\d\d)$/)
    await more.and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await bar.getByText('1 setting kept').waitFor()
    await notice.waitFor({ state: 'detached' })
    await page.locator('#fm-app\\.title:focus').waitFor()
    t.equal((await app.settings.history({ key: 'app.title' })).entries.length > 0, true)
    t.match(await stateOf(app, revision), 'kept')
    t.equal(app.settings.get(definitions.title), 'New')
    await shows(t, () => row('app.title').getByText('Not kept yet').count(), 0)
  })

  await t.test('More time that is asked for at once is seen and read out', async (t) => {
    await open(general)
    await saveFor('New', '5 minutes')
    const more = notice.getByRole('button', { name: 'More time' })
    await more.press('Enter')
    await shows(t, () => notice.locator('time').textContent(), /^(10:00|9:\d\d)$/)
    await status.getByText('You have 10 minutes to keep 1 change in General.').waitFor({ state: 'attached' })
    await more.press('Enter')
    await shows(t, () => notice.locator('time').textContent(), /^(15:00|14:\d\d)$/)
  })

  await t.test('what may wait no longer than a day is offered no more time', async (t) => {
    await openLive(general)
    await change(app, { 'app.title': 'New' }, 86_400)
    await notice.getByRole('button', { name: 'Keep' }).waitFor()
    await shows(t, () => notice.getByRole('button').allTextContents(), ['Put back now', 'Keep'])
  })

  await t.test('Put back now', async (t) => {
    await open(general)
    await saveFor('New', '1 hour')
    await shows(t, () => notice.locator('time').textContent(), /^(1:00:00|5\d:\d\d)$/)
    await notice.getByRole('button', { name: 'Put back now' }).click()
    await bar.getByText('1 setting is as it was').waitFor()
    await notice.waitFor({ state: 'detached' })
    t.equal(app.settings.get(definitions.title), 'Fastify Modular')
    await page.waitForFunction(() => document.activeElement?.id === 'fm-app.title')
    await shows(t, () => focusedKey(page), 'app.title')
    t.equal(await bar.getByText('Nobody kept them').count(), 0)
    t.same(complaints, [])
  })

  await t.test('a save that does not have to be kept opens nothing', async (t) => {
    await open(general)
    await field('Title').fill('New')
    await page.keyboard.press('Control+s')
    await bar.getByText('1 setting saved').waitFor()
    t.equal(await notice.count(), 0)
  })
})

async function stateOf(app: FastifyInstance, revision: number): Promise<string> {
  const { json } = await app.inject({
    url: `/api/settings/changes/${revision}`,
    headers: { cookie: 'user=ada' },
  })
  return String(json().state)
}

test('what others have to keep', async (t) => {
  const visited = await visitKeeping(t)
  if (!visited) return
  const { page, app, open, openLive, field, bar, notice, row, status, browser, url, reload } = visited

  await t.test('time is over: the page says so, and changes it again', async (t) => {
    await openLive(general)
    await change(app, { 'app.title': 'Locked out' }, 5)
    await notice.and(page.locator('.is-bad')).getByText('It goes back in a moment.').waitFor()
    t.same(await problems(page), [])
    await bar.getByText('1 setting is as it was').waitFor()
    await bar.getByText(/^Nobody kept them\. The time was over at /).waitFor()
    await notice.waitFor({ state: 'detached' })
    await shows(t, () => field('Title').inputValue(), 'Fastify Modular')
    await bar.getByRole('button', { name: 'Change them again' }).click()
    await shows(t, () => field('Title').inputValue(), 'Locked out')
    await bar.getByText('1 unsaved change').waitFor()
  })

  await t.test('what could not be put back is named with its reason', async () => {
    await openLive(general)
    await change(app, { 'app.title': 'One', 'contact.website': 'https://one.example/' }, 5)
    await notice.getByText('Eli changed 2 settings.').waitFor()
    await app.settings.set('contact.website', 'https://two.example/')
    await bar.getByText('1 setting could not be put back').waitFor()
    await bar.getByText('Website: It has changed since.').waitFor()
    await row('app.title').and(page.locator('[data-state=default]')).waitFor()
  })

  await t.test('it is there after a reload, in each tab, and in every group', async (t) => {
    await openLive(general)
    await change(app, { 'app.title': 'New' }, 300)
    await notice.waitFor()
    await reload()
    await notice.getByText('Eli changed 1 setting').waitFor()
    const second = await browser.newPage()
    t.teardown(() => second.close())
    await second.goto(`${url}/settings/manage?group=mail`)
    await noticeOf(second).getByRole('button', { name: 'Keep' }).click()
    await second.locator('.fm-bar').getByText('1 setting kept').waitFor()
    await bar.getByText('1 setting kept').waitFor()
    await notice.waitFor({ state: 'detached' })
  })

  await t.test('what the reader may not see is counted, and then others keep it', async (t) => {
    await openLive(general, 'eve')
    const revision = await change(app, { 'app.title': 'New', 'mail.port': 25 }, 300)
    await notice.getByText('Eli changed 2 settings.').waitFor()
    await notice.getByText('Show what').click()
    await notice.getByText('1 more that you may not see.').waitFor()
    t.equal(await notice.getByRole('button').count(), 0)
    await app.settings.keep(revision)
    await openLive(general, 'vera')
    await change(app, { 'app.title': 'Newer' }, 300)
    await row('app.title').getByText('Fastify Modular').waitFor()
    t.equal(await notice.count(), 0, 'callers who change nothing are not asked')
  })

  await t.test('somebody else was faster', async () => {
    await openLive(general)
    const revision = await change(app, { 'app.title': 'New' }, 300)
    await notice.waitFor()
    await page.route('**/changes?state=open', (route) => route.abort())
    await app.settings.keep(revision)
    await notice.getByRole('button', { name: 'Keep' }).click()
    await bar.locator('.is-bad').waitFor()
    await page.unroute('**/changes?state=open')
    await notice.waitFor({ state: 'detached' })
    await bar.getByText('1 setting kept').waitFor()
  })

  await t.test(
    'warned at half of the time, at 30 s and at 20 s, whatever the clock of the reader says',
    async (t) => {
      await page.clock.install({ time: Date.now() + 7_200_000 })
      await openLive(general)
      await change(app, { 'app.title': 'New' }, 120)
      await notice.waitFor()
      await shows(t, () => notice.locator('time').textContent(), /^(2:00|1:\d\d)$/)
      // From here on the clock of the page runs ahead of the server's.
      await page.route('**/changes?state=open', (route) => route.abort())
      const said: string[] = []
      for (const sentence of [
        /^You have 2 minutes/,
        /^(1 minute|\d\d seconds) left/,
        /^30 seconds left/,
        /^20 seconds left/,
      ]) {
        for (let tick = 0; tick < 130 && (await status.getByText(sentence).count()) === 0; tick++)
          await page.clock.runFor(1000)
        said.push(await status.getByText(sentence).innerText())
      }
      t.match(said, [
        'You have 2 minutes to keep 1 change in General.',
        / left to keep 1 change in General\.$/,
        '30 seconds left to keep 1 change in General.',
        '20 seconds left to keep 1 change in General.',
      ])
      await shows(t, () => notice.and(page.locator('.is-bad')).count(), 1)
      t.equal(await page.locator('[aria-live=assertive]').count(), 0)
      await page.unroute('**/changes?state=open')
    },
  )

  await t.test('a tab that stood still, and a page without a stream, read what became of it', async () => {
    await page.route('**/stream', (route) => route.abort())
    await page.clock.install()
    await open(general)
    const revision = await change(app, { 'app.title': 'New' }, 300)
    await reload()
    await notice.waitFor()
    await page.clock.pauseAt(Date.now() + 86_400_000)
    await app.settings.keep(revision)
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    await bar.getByText('1 setting kept').waitFor()
    await page.unroute('**/stream')
  })
})

test('it fits, in each language and look', async (t) => {
  const visited = await visitKeeping(t)
  if (!visited) return
  const { page, app } = visited
  const width = () =>
    page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  const looks = ['de', 'fr', 'es', 'pt', 'ja', 'zh', 'ar', 'en'].map((language, index) => ({
    language,
    colorScheme: index % 2 === 0 ? ('dark' as const) : ('light' as const),
    size: index % 3 === 2 ? { width: 1440, height: 900 } : phone,
  }))
  for (const look of looks) {
    await visited.open(general, 'ada', look)
    const revision = await change(app, { 'app.title': 'New', 'mail.port': 25 }, 300)
    const notice = page.locator('.fm-keep')
    await notice.waitFor()
    await notice.locator('summary').click()
    t.equal(await width(), 0, look.language)
    t.same(await problems(page), [], look.language)
    await shows(t, () => notice.getByRole('button').count(), 3)
    const boxes = await notice
      .getByRole('button')
      .evaluateAll((all) =>
        all
          .map((button) => button.getBoundingClientRect())
          .map(({ top, left, width }) => ({ top, left, width })),
      )
    const [more, back, keep] = boxes
    const isAfter = (keep?.top ?? 0) > (back?.top ?? 0) || look.size.width > 400
    t.ok(more && back && keep && isAfter, `${look.language}: seen in the order in which they are focused`)
    await app.settings.keep(revision)
    await notice.waitFor({ state: 'detached' })
  }
})
