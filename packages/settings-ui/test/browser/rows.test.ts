/** How rows, their menus and the bar are drawn where there is little room, two meanings, or another direction. */
import { setting, SettingScope } from '@fastify-modular/settings'
import { shows } from '@fastify-modular/test-support/shows'
import { Type } from '@sinclair/typebox'
import { test } from 'tap'
import { definitions } from '../support/definitions.js'
import { boxOf, looks } from '../support/looks.js'
import { phone, visit } from '../support/visit.js'

const { Application } = SettingScope

const toHarbour = (index: number) => ({ value: `h${index}`, label: `Harbour ${index}` })
const others = Array.from({ length: 39 }, (_, index) => toHarbour(index + 1))

const more = {
  parts: setting.json('app.parts', {
    displayName: 'Parts',
    description: 'What can be switched off, as long a sentence as a phone has room for.',
    scope: Application,
    group: 'Advanced',
    schema: Type.Object({ tips: Type.Boolean() }),
    default: { tips: true },
  }),
  harbour: setting.select('app.harbour', {
    displayName: 'Harbour',
    scope: Application,
    options: [toHarbour(0), ...others],
    default: 'h0',
  }),
  welcome: setting.text('app.welcome', {
    displayName: 'Begrüßungsnachricht',
    description: 'Shown to everybody who signs in.',
    scope: Application,
    restart: true,
  }),
}

test('how rows are drawn', async (t) => {
  const people = async () => ({ linus: 'Linus Tor' })
  const visited = await visit(t, {
    settings: {
      definitions: [definitions, more],
      findPeople: people,
      overrides: { 'app.site': 'locked-site' },
    },
  })
  if (!visited) return
  const { page, app, open, row, field, bar } = visited

  /** Somebody saves another title while this page has a draft of it, which is then sent. */
  const clash = async (theirs: string) => {
    await open('/settings/manage')
    await field('Title').fill('Mine')
    await app.settings.set('app.title', theirs, { actor: 'linus' })
    await page.keyboard.press('Control+s')
    await row('app.title').and(page.locator('[data-state=conflict]')).waitFor()
  }

  await t.test('an edge and a tint, or a ring: a row with an error or a decision has no ring', async (t) => {
    const outline = (key: string) => row(key).evaluate((element) => getComputedStyle(element).outlineStyle)
    await clash('Theirs')
    await bar.getByRole('button', { name: 'Next' }).click()
    await row('app.title').locator('input:focus').waitFor()
    t.equal(await outline('app.title'), 'none')
    await open('/settings/manage?group=mail')
    await field('SMTP port').fill('0')
    await page.keyboard.press('Control+s')
    await row('mail.port').and(page.locator('[data-state=invalid]')).waitFor()
    t.equal(await outline('mail.port'), 'none')
    await page.emulateMedia({ forcedColors: 'active' })
    t.equal(await outline('mail.port'), 'none')
  })

  await t.test('a decision says who saved what, and the bar how many there are', async (t) => {
    await clash('Theirs')
    const decision = row('app.title').getByRole('group', {
      name: 'Linus Tor changed this while you were editing.',
    })
    await shows(t, () => decision.getByRole('button').allTextContents(), [
      'Keep mine(Mine)',
      'Take Linus Tor’s(Theirs)',
    ])
    await bar.getByRole('button', { name: '1 to decide' }).waitFor()
    await shows(
      t,
      () => row('app.title').locator('.fm-pill').first().textContent(),
      /Unsaved · was Fastify Modular/,
    )
    await field('Open registration').check()
    await decision.getByRole('button', { name: 'Keep mine' }).click()
    await shows(t, () => bar.getByText('to decide').count(), 0)
  })

  await t.test('a name is broken between its words only, whatever stands beside it', async (t) => {
    await open('/settings/manage?group=general')
    await page.setViewportSize({ width: 1000, height: 800 })
    await field('Title').fill('A')
    await app.settings.set('app.welcome', `Welcome ${'on board '.repeat(8)}`)
    await page.reload()
    await field('Begrüßungsnachricht').fill('Hi')
    await row('app.welcome')
      .getByText(/^Unsaved/)
      .waitFor()
    const label = row('app.welcome').locator('label')
    await shows(
      t,
      () =>
        label.evaluate((element) => {
          const range = new Range()
          range.selectNodeContents(element)
          return range.getClientRects().length
        }),
      1,
    )
  })

  await t.test('of many options those are listed that have what is typed', async (t) => {
    await open('/settings/manage')
    const harbour = page.getByRole('combobox', { name: 'Harbour' })
    await shows(t, () => harbour.inputValue(), 'Harbour 0')
    t.equal(
      await harbour.evaluate((input: HTMLInputElement) => input.list?.options.length),
      41,
      'and the default',
    )
    await harbour.fill('Harbour 23')
    await row('app.harbour').getByText('Unsaved · was Harbour 0').waitFor()
    await page.keyboard.press('Control+s')
    await bar.getByText('1 setting saved').waitFor()
    t.equal(app.settings.get(more.harbour), 'h23')
    await harbour.fill('Nowhere')
    await page.keyboard.press('Control+s')
    await row('app.harbour').and(page.locator('[data-state=invalid]')).waitFor()
    t.equal(app.settings.get(more.harbour), 'h23')
  })

  await t.test(
    'a read-only page says so once, and locks no field; a locked setting has a lock',
    async (t) => {
      const looksOf = (key: string) =>
        row(key)
          .locator('.fm-field, textarea')
          .first()
          .evaluate((element) => [
            getComputedStyle(element).borderTopStyle,
            element.querySelectorAll('svg').length,
          ])
      await open('/settings/manage', 'vera')
      await page.getByText('You can view these settings').waitFor()
      await shows(t, () => looksOf('app.title'), ['solid', 0])
      await open('/settings/manage?group=advanced')
      await shows(t, () => looksOf('app.site'), ['dashed', 1])
      await open('/settings/manage?group=appearance', 'vera')
      await shows(t, () => looksOf('app.banner'), ['solid', 0])
    },
  )

  await t.test('the menu of a row lies over no group', async (t) => {
    await open('/settings/manage')
    await row('app.title').getByRole('button', { name: 'More for Title' }).click()
    const menu = await boxOf(page.getByRole('menu'))
    const groups = await boxOf(page.getByRole('navigation', { name: 'Groups' }))
    t.ok(menu.x >= groups.x + groups.width, `${menu.x} px, the groups end at ${groups.x + groups.width}`)
    await page.keyboard.press('Escape')
  })

  await t.test(
    'on a phone the bar has a line for what it says and one for its buttons, also in German',
    async (t) => {
      for (const language of ['en', 'de']) {
        await open('/settings/manage', 'ada', { size: phone, language })
        await field('Title').fill('A')
        await field('Open registration').check()
        const tops = await bar
          .locator('button')
          .evaluateAll((all) => [...new Set(all.map((each) => Math.round(each.getBoundingClientRect().top)))])
        t.equal(tops.length, 1, language)
      }
    },
  )

  await t.test('on a phone every menu is a sheet at the bottom edge, over a dimmed page', async (t) => {
    await open('/settings/manage', 'ada', { size: phone })
    for (const name of ['More for Title', 'More', 'Groups: General']) {
      await page.getByRole('button', { name, exact: true }).click()
      const menu = page.locator('.fm-menu:popover-open')
      const { x, y, width, height } = await boxOf(menu)
      t.same([x, width, Math.round(y + height)], [0, 390, 844], name)
      t.not((await looks(menu, '::backdrop')).background, 'rgba(0, 0, 0, 0)', name)
      await page.keyboard.press('Escape')
    }
  })

  await t.test('on a phone an error stands at the start, and no sentence is covered', async (t) => {
    await open('/settings/manage?group=appearance', 'ada', { size: phone })
    await field('Accent colour').fill('red')
    await field('Accent colour').blur()
    const note = row('app.accent').locator('.fm-note svg')
    const [icon, frame] = await Promise.all([boxOf(note), boxOf(row('app.accent').locator('.fm-field'))])
    t.ok(Math.abs(icon.x - frame.x) < 2, `${icon.x - frame.x} px`)
    await open('/settings/manage?group=advanced', 'ada', { size: phone })
    const mode = await boxOf(row('app.parts').locator('.fm-mode'))
    const sentence = await boxOf(row('app.parts').locator('.fm-about p'))
    t.ok(mode.y >= sentence.y + sentence.height)
  })

  await t.test('a number stands where its field begins, not at its unit, in both directions', async (t) => {
    for (const [language, side] of [
      ['en', 'start'],
      ['ar', 'right'],
    ] as const) {
      await open('/settings/preferences', 'vera', { language })
      const field = row('user.page_size').locator('input')
      const style = () =>
        field.evaluate((input) => {
          const { direction, textAlign } = getComputedStyle(input)
          return { direction, textAlign }
        })
      await shows(t, style, { direction: 'ltr', textAlign: side })
    }
  })

  await t.test(
    'right to left: each sentence ends where its own language ends, and the key stands at the name',
    async (t) => {
      await open('/settings/manage?only=application', 'ada', { language: 'ar' })
      const sentences = row('app.welcome').locator('.fm-about bdi')
      await shows(t, () => sentences.count(), 2)
      const box = await boxOf(sentences.first())
      // The full stop of an English sentence is at its right end.
      const stop = await sentences.first().evaluate((element) => {
        const text = element.firstChild as Text
        const range = new Range()
        range.setStart(text, text.length - 1)
        range.setEnd(text, text.length)
        return range.getBoundingClientRect().right
      })
      t.ok(Math.abs(stop - (box.x + box.width)) < 1)
      await row('app.welcome').hover()
      const [key, tools] = await Promise.all([
        boxOf(row('app.welcome').locator('.fm-key')),
        boxOf(row('app.welcome').locator('.fm-acts')),
      ])
      t.ok(
        tools.x - (key.x + key.width) < 20,
        `${tools.x - (key.x + key.width)} px between the tools and the key`,
      )
      // A value within a sentence keeps its own order.
      await field('Accent colour').fill('#112233')
      const order = await row('app.accent')
        .locator('.fm-pill span')
        .evaluate((element) => {
          const text = element.firstChild as Text
          const at = text.data.indexOf('#')
          return [at, at + 1].map((start) => {
            const range = new Range()
            range.setStart(text, start)
            range.setEnd(text, start + 1)
            return range.getBoundingClientRect().x
          })
        })
      t.ok((order[0] ?? NaN) < (order[1] ?? NaN), 'the # stands before its digits')
      await app.settings.set('app.title', 'Titles that are longer than what stands beside them', {
        actor: 'linus',
      })
      await page.goto(`${visited.url}/settings/manage?view=activity`)
      const shown = page.locator('.fm-diff del').first()
      t.equal(await shown.evaluate((element) => getComputedStyle(element).direction), 'ltr', 'cut at its end')
    },
  )
})

test('since when a secret is set can be read in whole, in each language', async (t) => {
  const visited = await visit(t)
  if (!visited) return
  const { page, app, open, row } = visited
  // The year is said of other years only.
  await page.clock.setFixedTime(Date.now() + 400 * 86_400_000)
  for (const language of ['en', 'de', 'fr', 'es', 'pt', 'ja', 'zh', 'ar']) {
    await open('/settings/manage?group=mail', 'ada', { language, size: { width: 1440, height: 900 } })
    await app.settings.set('mail.password', 'secret')
    await page.reload()
    const field = row('mail.password').locator('input')
    await shows(t, () => field.inputValue(), /\d|[٠-٩]/)
    const [needed, given] = await field.evaluate((each) => [each.scrollWidth, each.clientWidth] as const)
    t.ok(needed <= given, `${language}: ${needed} of ${given} px`)
  }
})
