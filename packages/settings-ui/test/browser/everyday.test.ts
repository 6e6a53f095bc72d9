/** What one does all day: where the focus is after each action, how far it is to Save, what a phone shows first, what keys do. */
import { SettingScope } from '@fastify-modular/settings'
import { shows } from '@fastify-modular/test-support/shows'
import { test } from 'tap'
import { phone, visit } from '../support/visit.js'

const { Application } = SettingScope

test('everyday work', async (t) => {
  const visited = await visit(t)
  if (!visited) return
  const { page, app, open, reload, row, field, status } = visited
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const search = page.getByRole('searchbox')
  /** The key of the setting whose control has the focus. */
  const focused = () =>
    page.evaluate(() =>
      document.activeElement?.closest('.fm-control')?.closest('[data-key]')?.getAttribute('data-key'),
    )
  const focusIsOn = (key: string) =>
    page.waitForFunction(
      (wanted) =>
        document.activeElement?.closest('.fm-control')?.closest('[data-key]')?.getAttribute('data-key') ===
        wanted,
      key,
    )

  await t.test('F-03: after Save by its button the focus is on the first saved setting', async (t) => {
    await open('/settings/manage')
    await field('Title').fill('Saved')
    await field('Open registration').click()
    await page.getByRole('button', { name: /^Save \d/ }).click()
    await status.getByText('2 settings saved').waitFor()
    await focusIsOn('app.title')
    await field('Title').fill('Reviewed')
    await button('Review').click()
    await page.getByRole('dialog', { name: 'Review 1 change' }).getByRole('button', { name: 'Save' }).click()
    await status.getByText('1 setting saved').waitFor()
    await focusIsOn('app.title')
    t.pass()
  })

  await t.test(
    'F-03: after Undo and Reset it is on the setting, after Discard on the first that was changed',
    async (t) => {
      await open('/settings/manage')
      await field('Title').fill('Draft')
      await button('Undo the change to Title').click()
      await focusIsOn('app.title')
      await app.settings.set('app.title', 'Stored')
      await reload()
      await button('Reset Title').click()
      await status.getByText('Title was reset.').waitFor()
      await focusIsOn('app.title')
      await field('Title').fill('Draft')
      await field('Open registration').click()
      await button('Discard').click()
      await status.getByText('Discarded 2 changes.').waitFor()
      const first = await focused()
      t.ok(first === 'app.title' || first === 'app.sign_up')
    },
  )

  await t.test('F-03: after Keep mine and Take theirs it is on the setting', async (t) => {
    await open('/settings/manage')
    for (const choice of ['Keep mine', 'Take somebody’s']) {
      await field('Title').fill(`Mine, then ${choice}`)
      await app.settings.contract.setSetting('app.title', `Theirs before ${choice}`, Application)
      await page.evaluate(() => dispatchEvent(new Event('focus'))) // another program was in front
      await page.getByRole('button', { name: new RegExp(`^${choice}`) }).click()
      await focusIsOn('app.title')
    }
    await shows(t, () => field('Title').inputValue(), 'Theirs before Take somebody’s')
  })

  await t.test('F-29: what was discarded comes back with Undo', async (t) => {
    await open('/settings/manage')
    await field('Title').fill('Draft')
    await button('Discard').click()
    await shows(t, () => field('Title').inputValue(), 'Fastify Modular')
    await button('Undo').click()
    await shows(t, () => field('Title').inputValue(), 'Draft')
    await page.getByText('1 unsaved change', { exact: true }).waitFor()
    await focusIsOn('app.title')
  })

  await t.test(
    'F-17: Tab leads from a control to its tools, then to the next control, then to the bar',
    async (t) => {
      await open('/settings/manage?group=appearance')
      const accent = field('Accent colour')
      await accent.fill('#123456')
      const stop = () =>
        page.evaluate(() => {
          const element = document.activeElement
          if (element?.closest('.fm-bar')) return 'bar'
          const row = element?.closest('[data-key]')?.getAttribute('data-key')
          return `${row} ${element?.getAttribute('aria-label') ?? element?.tagName}`
        })
      const stops = [await stop()]
      for (; stops.length < 20 && stops.at(-1) !== 'bar'; stops.push(await stop()))
        await page.keyboard.press('Tab')
      t.same(stops, [
        'app.accent INPUT',
        'app.accent Undo the change to Accent colour',
        'app.accent More for Accent colour',
        'app.banner TEXTAREA',
        'app.banner More for Banner',
        'app.style INPUT',
        'app.style More for Style',
        'user.theme INPUT',
        'user.theme More for Theme',
        'bar',
      ])
    },
  )

  await t.test(
    'F-27: on a phone the first setting starts above 180 px, under a header of one row',
    async (t) => {
      await open('/settings/manage', 'ada', { size: phone })
      const box = await page.locator('[data-key]').first().boundingBox()
      t.comment(`first setting at ${box?.y}`)
      t.ok(box && box.y < 180)
      t.equal((await page.getByRole('banner').boundingBox())?.height, 52)
      await button('Groups: General').click()
      await page.locator('.fm-menu').getByRole('link', { name: 'Mail' }).click()
      await field('SMTP port').waitFor()
      await field('SMTP port').fill('26')
      const bar = await page.locator('.fm-bar').boundingBox()
      t.equal(bar?.width, 390, 'the bar has the whole width')
    },
  )

  await t.test('on a phone the groups are back once the search is left empty', async (t) => {
    await open('/settings/manage', 'ada', { size: phone })
    const groups = button('Groups: General')
    const search = page.getByRole('searchbox')
    for (const leave of [() => search.press('Escape'), () => field('Title').click()]) {
      await search.click()
      await shows(t, () => groups.isVisible(), false)
      await leave()
      await groups.waitFor()
    }
    await search.fill('port')
    await row('mail.port').waitFor()
    await field('SMTP port').click()
    await shows(t, () => search.inputValue(), 'port', 'with something in it, it stays')
  })

  await t.test('with a finger: what one touches is 44 px high', async (t) => {
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Emulation.setTouchEmulationEnabled', { enabled: true })
    await open('/settings/manage?only=application', 'ada', { size: phone })
    await shows(t, () => page.evaluate(() => matchMedia('(pointer: coarse)').matches), true)
    await field('Title').fill('Draft')
    const small = () =>
      page
        .locator(
          ':is(button, a, select, summary, label:has([type=radio], [type=file]), .fm-field):not(.fm-skip):visible',
        )
        .evaluateAll((all) =>
          all
            .filter((each) => each.getBoundingClientRect().height < 44)
            .map((each) => each.getAttribute('aria-label') ?? each.textContent),
        )
    t.same(await small(), [])
    for (const menu of ['Groups: Groups', 'More for Title', 'More']) {
      await button(menu).click()
      await page.locator('.fm-menu:popover-open').waitFor()
      t.same(await small(), [], menu)
      if (menu !== 'More') await page.keyboard.press('Escape')
    }
    await page.getByRole('menuitem', { name: 'Import…' }).click()
    await page.getByRole('dialog').waitFor()
    t.same(await small(), [], 'the import')
    t.notOk(await page.getByText('or drop it here.').isVisible(), 'nothing is dropped with a finger')
    await page.keyboard.press('Escape')
    await visited.save.click()
    const tops = await visited.bar
      .getByRole('button', { name: /^(Undo|Dismiss)$/ })
      .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().top))
    t.equal(tops.length, 2)
    t.equal(tops[0], tops[1], 'what dismisses a message stands beside Undo')
    await devtools.send('Emulation.setTouchEmulationEnabled', { enabled: false })
  })

  await t.test('F-04: on paper rows have the whole width, without what only a screen needs', async (t) => {
    await open('/settings/manage')
    await field('Title').fill('Draft')
    await page.emulateMedia({ media: 'print' })
    for (const part of ['.fm-top', '.fm-nav', '.fm-tools', '.fm-acts', '.fm-bar'])
      await shows(t, () => page.locator(`${part}:visible`).count(), 0, part)
    const width = await page.evaluate(() => document.documentElement.clientWidth)
    const box = await row('app.title').boundingBox()
    t.ok(box && box.width > width * 0.75, `${box?.width} of ${width}`)
  })

  await t.test('F-11: a long review starts at its title; Save stays in view', async (t) => {
    await open('/settings/manage?only=application', 'ada', { size: { width: 1280, height: 400 } })
    for (const name of ['Title', 'Banner', 'Rows per page', 'Accent colour', 'Website'])
      await field(name).fill('#123456')
    await button('Review').click()
    const dialog = page.getByRole('dialog', { name: 'Review 5 changes' })
    await dialog.getByRole('heading').and(page.locator(':focus')).waitFor()
    const list = dialog.locator('.fm-body')
    await shows(t, () => list.evaluate((element) => element.scrollHeight > element.clientHeight), true)
    t.equal(await list.evaluate((element) => element.scrollTop), 0)
    const save = await dialog.getByRole('button', { name: 'Save' }).boundingBox()
    t.ok(save && save.y + save.height <= 400, `Save ends at ${save && save.y + save.height}`)
    await page.keyboard.press('Escape')
  })

  await t.test(
    '⌘K and Ctrl+K lead to the search; Enter and the arrow down go to the first result, Escape clears',
    async (t) => {
      for (const [lead, go] of [
        ['Control+k', 'Enter'],
        ['Meta+k', 'ArrowDown'],
      ] as const) {
        await open('/settings/manage')
        await field('Title').focus()
        await page.keyboard.press(lead)
        await page.locator('[role=searchbox]:focus').waitFor()
        await search.fill('smtp')
        const first = await page.locator('[data-key]').first().getAttribute('data-key')
        // Enter accepts what an input method converts, Escape takes it back.
        for (const key of ['Enter', 'Escape']) {
          await search.evaluate(
            (input, name) =>
              input.dispatchEvent(
                new KeyboardEvent('keydown', { key: name, isComposing: true, bubbles: true }),
              ),
            key,
          )
          await shows(t, () => search.evaluate((element) => element === document.activeElement), true, key)
          await shows(t, () => search.inputValue(), 'smtp')
        }
        await page.keyboard.press(go)
        await shows(t, focused, first)
        await search.focus()
        await page.keyboard.press('Escape')
        await shows(t, () => search.inputValue(), '')
      }
      await field('Open registration').focus()
      await page.keyboard.press('/')
      t.equal(
        await search.evaluate((element) => element === document.activeElement),
        false,
        'no other key does',
      )
    },
  )

  await t.test('a corrected search says so, offers what was entered, and leads back', async (t) => {
    await open(`/settings/manage?q=${'.*+ word '.repeat(500)}`)
    t.equal((await search.inputValue()).length, 100, 'a link may be long, a search may not')
    await search.fill('smtp pasword')
    await page.getByText('1 result for “smtp password”').waitFor()
    await shows(t, () => page.locator('[data-key]').first().getAttribute('data-key'), 'mail.password')
    await shows(
      t,
      () => page.evaluate(() => (CSS.highlights.get('fm-match')?.size ?? 0) > 1),
      true,
      'words are marked',
    )
    await button('Search for “smtp pasword” instead').click()
    await button('Did you mean “smtp password”?').click()
    await page.getByText('1 result for “smtp password”').waitFor()
  })

  await t.test(
    'F-12: a search is not shown as a message; while it is on, groups say how many it has found',
    async (t) => {
      await open('/settings/manage')
      await search.fill('smtp')
      await status.getByText('3 settings found').waitFor({ state: 'attached' })
      t.equal(await page.locator('.fm-bar').count(), 0)
      const group = (name: string) =>
        page.getByRole('navigation', { name: 'Groups' }).getByRole('link', { name })
      await shows(t, () => group('Mail').innerText(), /3/)
      t.notMatch(await group('Contact').innerText(), /\d settings? found[^0]*[1-9]/)
      await search.fill('date format')
      await page.locator('.fm-empty').getByText('Nothing matches “date format”.').waitFor()
      await search.fill('smpt pasword')
      await page.locator('.fm-empty').getByText('Nothing matches “smpt pasword”.').waitFor()
      t.equal(await page.getByRole('button', { name: /instead$/ }).count(), 0, 'that was searched for')
      await search.fill('registrar')
      await page.locator('.fm-empty').getByRole('button', { name: 'Open registration' }).click()
      await focusIsOn('app.sign_up')
      await shows(t, () => search.inputValue(), '')
    },
  )

  await t.test(
    'a row that was found has a ring until the next press or for 4 s, and never looks unsaved',
    async (t) => {
      await open('/settings/manage')
      await page.goto('about:blank')
      await page.clock.install()
      await page.goto(`${visited.url}/settings/manage#setting:mail.port`)
      const looks = await page.waitForFunction(() => {
        const look = (key: string) => {
          const row = document.querySelector(`[data-key="${key}"]`) ?? document.body
          const { backgroundColor, outlineStyle } = getComputedStyle(row)
          return { backgroundColor, outlineStyle, edge: getComputedStyle(row, '::before').content }
        }
        return (
          document.querySelector('[data-key="mail.port"][data-found]') && [
            look('mail.port'),
            look('mail.host'),
          ]
        )
      })
      const [found, plain] = (await looks.jsonValue()) ?? []
      t.equal(found?.outlineStyle, 'solid')
      t.same([found?.backgroundColor, found?.edge], [plain?.backgroundColor, plain?.edge])
      await page.clock.runFor(4100)
      await shows(t, () => page.locator('[data-found]').count(), 0)
      await page.goto('about:blank')
      await page.goto(`${visited.url}/settings/manage#setting:mail.port`)
      await row('mail.port').and(page.locator('[data-found]')).waitFor()
      await page.getByRole('heading', { level: 1 }).click()
      await shows(t, () => page.locator('[data-found]').count(), 0)
    },
  )

  await t.test(
    'a row that was just saved flashes once, and then looks like any that was changed',
    async (t) => {
      await open('/settings/manage')
      await page.emulateMedia({ reducedMotion: 'no-preference' })
      const animations = () => row('app.title').evaluate((element) => getComputedStyle(element).animationName)
      await field('Title').fill('Saved')
      await shows(t, animations, 'none')
      await page.keyboard.press('Control+s')
      await row('app.title').and(page.locator('[data-saved]')).waitFor()
      await shows(t, animations, 'fm-flash')
      await page.emulateMedia({ reducedMotion: 'reduce' })
      await shows(t, animations, 'none')
    },
  )

  await t.test('the address never goes back to a group that was left a moment ago', async (t) => {
    await open('/settings/manage')
    await page.clock.pauseAt(Date.now() + 24 * 3_600_000)
    const choose = (group: string) =>
      page.locator(`.fm-nav a[href*="group=${group}"]`).evaluate((link: HTMLElement) => link.click())
    await choose('mail')
    await page.clock.runFor(210) // a change of the address is due soon
    await choose('general')
    for (let ms = 0; ms < 10; ms++) {
      await page.clock.runFor(1)
      t.match(await page.evaluate(() => location.search), 'group=general')
    }
  })
})
