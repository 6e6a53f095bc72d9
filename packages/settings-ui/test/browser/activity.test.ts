/** Who changed what, in all settings and in one, and the ways back. */
import { setting, SettingScope } from '@fastify-modular/settings'
import { shows } from '@fastify-modular/test-support/shows'
import { test } from 'tap'
import { problems } from '../support/axe.js'
import { definitions } from '../support/definitions.js'
import { phone, visit } from '../support/visit.js'

const { Application, System } = SettingScope

const site = {
  closed: setting.bool('site.closed', {
    displayName: 'Closed',
    scope: Application,
    confirm: 'Everyone notices.',
    default: false,
  }),
}

/** The host knows some of those who write. */
let asked: (readonly string[])[] = []
const nameThem = async (ids: readonly string[]) => {
  asked.push(ids)
  return { ada: 'Ada Lovelace', linus: 'Linus Tor', canary: 'Nobody may learn this' }
}

test('activity', async (t) => {
  const visited = await visit(t, { settings: { definitions: [definitions, site], findPeople: nameThem } })
  if (!visited) return
  const { page, app, open, row, complaints, status, bar } = visited
  const activity = page.getByRole('region', { name: 'Activity' })
  const events = activity.locator('.fm-event')
  const event = (text: string | RegExp) => events.filter({ hasText: text })
  const write = (key: string, value: string | object, actor: string, scope: 0 | 1 = Application) =>
    app.settings.contract.setSetting(key, value as never, scope, undefined, { actor })

  await t.test('it lists changes newest first: who, from which value to which, when', async (t) => {
    await open('/settings/manage')
    await write('app.title', 'First', 'Grace')
    await write('app.title', 'Second', 'Linus Tor')
    await write('app.accent', '#aa0000', 'Grace')
    await write('mail.password', 'hush', 'Grace', System)
    await app.settings.contract.resetToDefault('app.title', Application, undefined, {
      actor: 'Grace',
      note: 'too loud',
    })
    await page.getByRole('link', { name: 'Activity' }).click()
    await event('Grace reset Title').waitFor()
    const texts = await events.allInnerTexts()
    t.match(texts[0], /Grace reset Title\s*\u2068“too loud”/)
    t.match(texts[0], /Second[\s\S]*Fastify Modular\s+default/)
    t.match(texts[1], /Grace changed SMTP password[\s\S]*changed/)
    t.match(texts[2], /Grace changed Accent colour[\s\S]*#3b82f6\s+default[\s\S]*#aa0000/)
    t.match(texts[3], /LT[\s\S]*Linus Tor changed Title[\s\S]*First[\s\S]*Second/)
    t.notMatch(texts.join(' '), /hush/)
    t.match(texts[0], /now|second|minute/)
    await shows(t, () => events.first().locator('time').getAttribute('datetime'), /^\d{4}-\d\d-\d\dT/)
    await shows(t, () => activity.getByRole('heading', { level: 3 }).first().innerText(), 'Today')
    t.equal(new URL(page.url()).searchParams.get('view'), 'activity')
    await shows(t, () => page.getByRole('link', { name: 'Activity' }).getAttribute('aria-current'), 'page')
    t.same(await problems(page), [])
    t.same(complaints, [])
  })

  await t.test('person, group and time narrow it', async (t) => {
    await page.getByLabel('Person').selectOption('Linus Tor')
    await event('Grace changed').first().waitFor({ state: 'hidden' })
    await event('Linus Tor changed Title').first().waitFor()
    await page.getByLabel('Person').selectOption('')
    await page.getByLabel('Group', { exact: true }).selectOption('Appearance')
    await event('Accent colour').first().waitFor()
    await event('Linus Tor changed').first().waitFor({ state: 'hidden' })
    await page.getByLabel('Time').selectOption('Last 24 hours')
    await event('Accent colour').first().waitFor()
    await page.getByLabel('Person').selectOption('Linus Tor')
    await activity.getByText('No settings match these filters.').waitFor()
    t.pass()
  })

  await t.test(
    'a change that holds can be undone, a secret too; one that was overwritten cannot',
    async (t) => {
      await open('/settings/manage?view=activity')
      await write('app.title', 'First', 'Grace')
      await write('app.title', 'Second', 'Linus')
      await write('mail.password', 'one', 'Grace', System)
      await write('mail.password', 'two', 'Linus', System)
      await page.reload()
      await event('Linus changed Title').first().waitFor()
      t.equal(await event('Grace changed Title').first().getByRole('button', { name: /^Undo/ }).count(), 0)
      await event('Linus changed Title').first().getByRole('button', { name: /^Undo/ }).click()
      await status.getByText('1 setting is as it was').waitFor()
      t.equal(app.settings.get(definitions.title), 'First')
      await event('Ada Lovelace changed Title').first().getByText('back to an earlier value').waitFor()
      const focused = event('Linus changed Title').first().and(page.locator(':focus'))
      await shows(t, () => focused.count(), 1, 'the focus stays with the change')
      await event('Linus changed SMTP password')
        .first()
        .getByRole('button', { name: /^Undo…/ })
        .click()
      const dialog = page.getByRole('dialog', { name: 'Undo this change?' })
      await dialog.getByText(/^Puts back the secret of /).waitFor()
      t.same(await problems(page), [])
      t.equal(app.settings.get(definitions.password), 'two')
      // The page says the same as after the one before.
      const undone = page.waitForResponse((response) => response.url().endsWith('/revert'))
      await dialog.getByRole('button', { name: 'Undo' }).click()
      await undone
      t.equal(app.settings.get(definitions.password), 'one')
    },
  )

  await t.test('what was written together stands together; JSON is compared line by line', async (t) => {
    await open('/settings/manage?view=activity')
    await app.settings.setMany(
      [
        { key: 'app.title', scope: Application, value: 'Bulk' },
        { key: 'app.features', scope: Application, value: { beta: true, list: [1, 2] } },
      ],
      { actor: 'Grace' },
    )
    await page.reload()
    const together = event('Grace changed 2 settings').first()
    await together.waitFor()
    await shows(t, () => together.locator('.fm-lines .is-removed').allTextContents(), [
      'removed   "beta": false',
    ])
    const added = await together.locator('.fm-lines .is-added').allTextContents()
    t.equal(added[0], 'added   "beta": true,')
    t.same(await problems(page), [])
    await together.getByRole('button', { name: /^Undo/ }).click()
    await status.getByText('2 settings are as they were').waitFor()
    t.same(
      [app.settings.get(definitions.title), app.settings.get(definitions.features)],
      ['Fastify Modular', { beta: false }],
    )
    await together.getByText('Features, Title').or(together.getByText('Title, Features')).click()
    await together.getByRole('button', { name: 'Title', exact: true }).click()
    await row('app.title').locator('input:focus').waitFor()
    await page.waitForURL((url) => !url.searchParams.has('view'))
  })

  await t.test('a set of which one value was changed since still has its Undo, which says so', async (t) => {
    await open('/settings/manage?view=activity')
    await app.settings.setMany(
      [
        { key: 'app.title', scope: Application, value: 'Bulk' },
        { key: 'app.style', scope: Application, value: 'dense' },
      ],
      { actor: 'Grace' },
    )
    await write('app.title', 'Later', 'linus')
    await page.reload()
    const together = event('Grace changed 2 settings').first()
    await together.getByRole('button', { name: /^Undo/ }).click()
    await bar.getByText('Linus Tor has changed Title since').waitFor()
    t.equal(app.settings.get(definitions.style), 'dense', 'all or nothing')
    await bar.getByRole('button', { name: 'Undo anyway' }).click()
    await bar.getByText('2 settings are as they were').waitFor()
    t.same(
      [app.settings.get(definitions.title), app.settings.get(definitions.style)],
      ['Fastify Modular', 'calm'],
    )
  })

  await t.test('older changes come page by page', async (t) => {
    await open('/settings/manage?view=activity')
    for (let index = 0; index < 60; index++) await write('app.title', `Title ${index}`, 'Grace')
    await page.reload()
    await event('Title 59').first().waitFor()
    await shows(t, () => events.count(), 50)
    await activity.getByRole('button', { name: 'Show older' }).click()
    await page.waitForFunction(() => document.querySelectorAll('.fm-event').length > 50)
    t.ok((await events.count()) <= 100)
  })

  await t.test('older changes that come after another filter was chosen are left out', async (t) => {
    await page.reload()
    await event('Title 59').first().waitFor()
    let answer = () => {}
    const held = new Promise<void>((resolve) => (answer = resolve))
    const isOlder = ({ searchParams }: URL) => searchParams.has('before')
    await page.route(isOlder, async (route) => {
      await held
      await route.continue()
    })
    const asked = page.waitForRequest((request) => isOlder(new URL(request.url())))
    await activity.getByRole('button', { name: 'Show older' }).click()
    await asked
    await page.getByLabel('Group', { exact: true }).selectOption('Contact')
    await activity.getByText('No settings match these filters.').waitFor()
    const answered = page.waitForEvent('requestfinished', (request) => isOlder(new URL(request.url())))
    answer()
    await answered
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve))) // what it draws is drawn
    t.equal(await events.count(), 0)
    await page.unroute(isOlder)
  })

  await t.test('what is to be confirmed asks before it is undone', async (t) => {
    await open('/settings/manage')
    await app.settings.contract.setSetting('site.closed', true, Application, undefined, { actor: 'Grace' })
    await page.getByRole('link', { name: 'Activity' }).click()
    const closed = event('Grace changed Closed').first()
    await closed.getByRole('button', { name: /^Undo…/ }).click()
    const dialog = page.getByRole('dialog', { name: 'Undo this change?' })
    await dialog.getByText('Everyone notices.').waitFor()
    t.equal(app.settings.get(site.closed), true)
    await dialog.getByRole('button', { name: 'Undo' }).click()
    await status.getByText('1 setting is as it was').waitFor()
    t.equal(app.settings.get(site.closed), false)
  })

  await t.test('people have names, by one call for all of them; nobody learns another one', async (t) => {
    await page.route('**/stream', (route) => route.abort()) // rows that change ask for names, too
    await open('/settings/manage')
    for (const actor of ['linus', 'Grace', 'linus']) await write('app.title', `By ${actor}`, actor)
    asked = []
    await page.getByRole('link', { name: 'Activity' }).click()
    await event('Linus Tor changed Title').first().waitFor()
    await event('Grace changed Title').first().waitFor() // an id where the host has no name
    t.ok(asked.length <= 1, 'names are kept')
    await page.getByLabel('Person').selectOption({ label: 'Linus Tor' })
    await event('Grace changed').first().waitFor({ state: 'hidden' })
    await page.getByRole('link', { name: 'General' }).click()
    await row('app.title').getByRole('button', { name: 'More for Title' }).click()
    await page
      .getByRole('menu')
      .getByText(/Changed by Linus Tor/)
      .waitFor()
    await page.keyboard.press('Escape')
    t.notMatch(await page.content(), /Nobody may learn/)
  })

  await t.test('a hundred entries of as many people cost one call for their names', async (t) => {
    await open('/settings/manage')
    for (let index = 0; index < 100; index++) await write('app.title', `Title ${index}`, `person-${index}`)
    asked = []
    await page.getByRole('link', { name: 'Activity' }).click()
    await event('person-99 changed Title').first().waitFor()
    t.equal(asked.length, 1)
    t.equal(asked[0]?.length, 50)
    await activity.getByRole('button', { name: 'Show older' }).click()
    await event('person-0 changed Title').first().waitFor()
    t.equal(asked.length, 2, 'and one for the next page')
    await page.unroute('**/stream')
  })

  await t.test(
    'on a phone a change of one value takes 96 px at most, and five are on the screen',
    async (t) => {
      await open('/settings/manage?view=activity', 'ada', { size: phone })
      for (let index = 0; index < 6; index++)
        await write('app.title', `A title with more than a few words ${index}`, 'linus')
      await page.reload()
      await event('words 5').first().waitFor()
      const boxes = await events.evaluateAll((all) =>
        all
          .slice(0, 5)
          .map((each) => ({ height: each.clientHeight, end: each.getBoundingClientRect().bottom })),
      )
      for (const { height } of boxes) t.ok(height <= 96, `${height} px`)
      t.ok((boxes[4]?.end ?? 0) <= 844, 'the fifth ends on the first screen')
      await shows(t, () => page.evaluate(() => document.documentElement.scrollWidth), 390)
    },
  )

  await t.test('on a phone an address can be read whole', async (t) => {
    await open('/settings/manage?view=activity', 'ada', { size: phone })
    await write('contact.website', 'https://acme.example.org/about/us', 'linus')
    await write('contact.support', 'help-and-support@acme.example.org', 'linus')
    await page.reload()
    await event('Support address').first().waitFor()
    for (const name of ['Support address', 'Website']) {
      const shown = event(name).first().locator('ins')
      await shows(
        t,
        () =>
          shown.evaluate(
            (element) =>
              element.scrollHeight <= element.clientHeight && element.scrollWidth <= element.clientWidth,
          ),
        true,
        name,
      )
      t.ok(
        (await event(name)
          .first()
          .evaluate((each) => each.clientHeight)) <= 96,
        name,
      )
    }
  })

  await t.test('who may not change settings has no activity; an editor has none of System', async (t) => {
    await write('mail.host', 'mail.test', 'Grace', System)
    await open('/settings/manage?view=activity', 'vera')
    await row('app.title').waitFor()
    t.equal(await page.getByRole('link', { name: 'Activity' }).count(), 0)
    await open('/settings/manage?view=activity', 'eve')
    await events.first().waitFor()
    t.equal(await event('SMTP').count(), 0)
  })

  await t.test('how long ago is counted as the headings count: by dates', async (t) => {
    await open('/settings/manage')
    await write('app.title', 'First', 'Grace')
    const later = await visited.browser.newPage()
    t.teardown(() => later.close())
    const midnight = new Date()
    midnight.setHours(48, 0, 0, 0)
    for (const [seconds, heading, time] of [
      [-1, 'Yesterday', 'yesterday'],
      [1, /day/, '2 days ago'],
    ] as const) {
      await later.clock.setFixedTime(midnight.getTime() + seconds * 1000)
      await later.goto(`${visited.url}/settings/manage?view=activity`)
      const event = later.locator('.fm-event').first()
      await later.getByRole('heading', { level: 3, name: heading }).waitFor()
      t.equal(await event.locator('time').textContent(), time)
    }
  })

  await t.test('Restore never overwrites in silence what somebody has saved since', async (t) => {
    await open('/settings/manage?group=general')
    await write('app.title', 'First', 'Grace')
    await write('app.title', 'Second', 'Grace')
    await page.reload()
    await row('app.title').getByRole('button', { name: 'More for Title' }).click()
    await page.getByRole('menuitem', { name: 'History' }).click()
    const dialog = page.getByRole('dialog', { name: 'History of Title' })
    const restore = dialog
      .locator('.fm-event')
      .nth(1)
      .getByRole('button', { name: /^Restore/ })
    await restore.waitFor()
    await write('app.title', 'Third', 'linus')
    await restore.click()
    await dialog.getByRole('alert').waitFor()
    t.equal(app.settings.get(definitions.title), 'Third')
  })
})
