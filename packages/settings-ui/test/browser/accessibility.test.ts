/** What people perceive who see little, see no colours, hear the page, or use no mouse. */
import type { Page } from 'playwright-core'
import { test } from 'tap'
import { problems } from '../support/axe.js'
import { definitions } from '../support/definitions.js'
import { hinted } from '../support/hinted.js'
import { visit } from '../support/visit.js'
import { shows } from '@fastify-modular/test-support/shows'

/** Something on the page of every kind: an override, a secret, errors, the bar that lists them. */
async function makeTrouble(page: Page, names = ['Title', 'Website']): Promise<void> {
  for (const name of names) await page.getByLabel(name, { exact: true }).fill('<b>')
  if (names.length > 1) await page.getByLabel('API token', { exact: true }).fill('hush')
  await page.getByRole('button', { name: /^Save \d/ }).click()
  await page.getByRole('button', { name: /^\d needs? attention$/ }).waitFor()
}

test('the pages of all callers', async (t) => {
  const visited = await visit(t)
  if (!visited) return
  const { page, app, open, reload, row, browser } = visited
  const focused = () => page.evaluate(() => document.activeElement?.id)
  const width = () =>
    page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)

  for (const colorScheme of ['light', 'dark'] as const) {
    await t.test(`UI-23: axe finds nothing: ${colorScheme}, as loaded and with errors`, async (t) => {
      await open('/settings/manage?only=application', 'ada', { colorScheme })
      await app.settings.set('app.title', 'Overridden')
      await reload()
      await shows(t, () => page.locator('[data-state=overridden]').count(), 1)
      t.same(await problems(page), [])
      await makeTrouble(page)
      t.same(await problems(page), [])
    })
  }

  await t.test('UI-23: axe finds nothing: dialogs, read-only, preferences, nothing found', async (t) => {
    await open('/settings/manage?only=application')
    const menus = page.locator('.fm-menu:popover-open')
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    t.same(await problems(page), [], 'filter menu')
    await page.keyboard.press('Escape')
    await menus.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Your account' }).click()
    t.same(await problems(page), [], 'account menu')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Import…' }).click()
    await page.getByRole('dialog').waitFor()
    t.same(await problems(page), [], 'import')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await row('app.title').getByRole('button', { name: 'More for Title' }).click()
    t.same(await problems(page), [], 'row menu')
    await page.getByRole('menuitem', { name: 'History' }).click()
    await page
      .getByText('Nobody has changed', { exact: false })
      .or(page.locator('dialog li').first())
      .waitFor()
    t.same(await problems(page), [], 'history')
    await open('/settings/manage')
    await makeTrouble(page, ['Title'])
    await page.getByRole('button', { name: '1 needs attention' }).click()
    t.same(await problems(page), [], 'what needs attention')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Review' }).click()
    t.same(await problems(page), [], 'review')
    await open('/settings/manage?q=zebra')
    await page.getByRole('status').getByText('0 settings found').waitFor()
    t.same(await problems(page), [])
    await open('/settings/manage?only=application', 'vera')
    t.same(await problems(page), [])
    await open('/settings/preferences', 'vera')
    t.same(await problems(page), [])
  })

  await t.test('UI-23, UI-24: axe finds nothing and nothing is cut off: 320 px, with errors', async (t) => {
    const size = { width: 320, height: 640 }
    await open('/settings/manage?only=application', 'ada', { size })
    t.equal(await width(), 0)
    await makeTrouble(page)
    t.equal(await width(), 0)
    t.same(await problems(page), [])
    await open('/settings/preferences', 'ada', { size })
    t.equal(await width(), 0)
  })

  await t.test('UI-24: nothing is cut off at 400 % of 1280 px, nor with wide text spacing', async (t) => {
    await open('/settings/manage?only=application')
    const devtools = await browser.newCDPSession(page)
    await devtools.send('Emulation.setDeviceMetricsOverride', {
      width: 320,
      height: 256,
      deviceScaleFactor: 4,
      mobile: false,
    })
    await page.waitForFunction(() => innerWidth === 320 && devicePixelRatio === 4)
    t.equal(await width(), 0)
    await devtools.send('Emulation.clearDeviceMetricsOverride')
    await devtools.detach()
  })

  await t.test('UI-23: axe finds nothing: forced colours', async (t) => {
    await open('/settings/manage?only=application')
    await page.emulateMedia({ forcedColors: 'active' })
    await makeTrouble(page)
    t.same(await problems(page), [])
  })

  await t.test(
    'UI-25: Tab meets the skip link first, then everything in the order in which it is seen',
    async (t) => {
      await open('/settings/manage?group=mail')
      await page.keyboard.press('Tab')
      await shows(t, () => page.evaluate(() => document.activeElement?.textContent), 'Skip to the settings')
      await page.keyboard.press('Enter')
      await page.locator('#fm-settings:focus').waitFor() // the browser follows a link when it draws next
      let last = -1
      for (let step = 0; step < 9; step++) {
        await page.keyboard.press('Tab')
        const top = await page.evaluate(() => {
          const row = document.activeElement?.closest('[data-key]')
          return row ? row.getBoundingClientRect().top + scrollY : -1
        })
        t.ok(top >= last, `step ${step} goes down`)
        last = top
      }
    },
  )

  await t.test('UI-25: the bar that sticks never hides what has the focus', async (t) => {
    await open('/settings/manage?only=application', 'ada', { size: { width: 900, height: 500 } })
    await page.getByLabel('Title', { exact: true }).fill('Draft')
    for (let step = 0; step < 40; step++) {
      await page.keyboard.press('Tab')
      const isHidden = await page.evaluate(() => {
        const focused = document.activeElement
        const bar = document.querySelector('.fm-bar')
        if (!focused || !bar || bar.contains(focused) || focused === document.body) return false
        return focused.getBoundingClientRect().bottom > bar.getBoundingClientRect().top + 1
      })
      t.notOk(isHidden, `step ${step}`)
    }
  })

  await t.test('a screen reader gets name, state, help and error of a setting', async (t) => {
    await open('/settings/manage?only=application')
    await makeTrouble(page)
    const row = page.locator('[data-key="app.title"]')
    t.match(await page.getByRole('main').ariaSnapshot(), /region "Unsaved changes"/)
    const input = row.getByRole('textbox', { name: 'Title', exact: true })
    await shows(t, () => input.getAttribute('aria-invalid'), 'true')
    const help = await input.evaluate((element) =>
      (element.getAttribute('aria-describedby') ?? '')
        .split(' ')
        .map((id) => document.getElementById(id)?.textContent),
    )
    t.match(help, [
      /Shown in the header/,
      /Unsaved · was Fastify Modular/,
      /Enter text in the same format as/,
    ])
    t.match(await page.locator('[data-key="app.sign_up"]').ariaSnapshot(), /switch "Open registration"/)
    t.match(
      await page.getByRole('navigation', { name: 'Groups' }).ariaSnapshot(),
      /link "General 1 needs attention"/,
    )
    t.match(
      await row.ariaSnapshot(),
      /textbox "Title"[^]*button "Undo the change to Title"[^]*button "More for Title"/,
    )
  })

  await t.test('the whole work without a mouse: search, change, save, look back', async (t) => {
    await open('/settings/manage?only=application')
    await page.getByRole('searchbox').focus()
    await page.keyboard.type('registration')
    await shows(t, () => page.locator('[data-key]:visible').count(), 1)
    for (let step = 0; step < 20 && (await focused()) !== 'fm-app.sign_up'; step++)
      await page.keyboard.press('Tab')
    await shows(t, focused, 'fm-app.sign_up', 'Tab leads to what was found')
    await page.keyboard.press('Space')
    await page.keyboard.press('Control+s')
    await page.locator('.fm-bar').getByText('1 setting saved').waitFor()
    await shows(t, focused, 'fm-app.sign_up')
    await shows(t, () => row('app.sign_up').getAttribute('data-state'), 'overridden')
    await page.keyboard.press('Tab') // the way back to the default
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'History of Open registration' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await shows(
      t,
      () => page.evaluate(() => document.activeElement?.getAttribute('aria-label')),
      'More for Open registration',
      'focus returns',
    )
  })
})

test('a save is announced whatever a search announces at the same time', async (t) => {
  const visited = await visit(t)
  if (!visited) return
  const { page, open, row } = visited
  await page.clock.install()
  await open('/settings/manage?only=application')
  await page.clock.pauseAt(Date.now() + 10_000) // nobody types, saves and waits within one moment; a script does. Less than a stream may be silent
  await page.getByRole('searchbox').fill('registration')
  await page.getByLabel('Open registration', { exact: true }).click()
  await page.keyboard.press('Control+s')
  await row('app.sign_up').and(page.locator('[data-state=overridden]')).waitFor()
  await page.clock.runFor(1000)
  const said = await page.getByRole('status').allTextContents() // that of others' changes has nothing to say
  t.same(said.filter((text) => text !== '').toSorted(), ['1 setting found', '1 setting saved'])
})

test('UI-23: right to left', async (t) => {
  const visited = await visit(t, {
    settings: { definitions: [definitions, hinted] },
    ui: { locale: 'ar', messages: { manage: 'الإعدادات' } },
  })
  if (!visited) return
  const { page, open } = visited
  await open('/settings/manage?only=application')
  await shows(t, () => page.locator('html').getAttribute('dir'), 'rtl')
  t.same(await problems(page), [])
  const row = page.locator('[data-key="app.title"]')
  const label = await row.locator('label').boundingBox()
  const input = await row.locator('input').boundingBox()
  t.ok(label && input && label.x > input.x, 'the label is on the right')
  await shows(t, () => row.locator('code').getAttribute('dir'), 'ltr')
  const key = await row.locator('code').boundingBox()
  t.ok(label && key && key.x + key.width <= label.x + 1, 'the key stands after it')
  await row.locator('input').fill('جديد')
  await page.locator('.fm-bar button').nth(1).click()
  const change = page.locator('dialog .fm-diff')
  const left = async (part: string) => (await change.locator(part).boundingBox())?.x ?? 0
  t.ok((await left('del')) > (await left('ins')), 'the new value stands on the left')
  await shows(t, () => change.locator('> .fm-i').evaluate((icon) => getComputedStyle(icon).scale), '-1 1')
  await page.keyboard.press('Escape')
  await row.locator('input').fill('<')
  await row.locator('input').blur()
  await page.locator('.fm-attention button').first().click()
  const problem = page.locator('.fm-attention a .fm-small')
  t.equal(await problem.evaluate((text) => getComputedStyle(text).direction), 'rtl', 'below an English name')
  t.equal(
    await problem.evaluate((text) => getComputedStyle(text).whiteSpace),
    'normal',
    'all of it is in the menu',
  )
  await page.keyboard.press('Escape')
  await open('/settings/manage?group=mail')
  const example = page.locator('[data-key="mail.host"] input')
  const order = await example.evaluate((input) => getComputedStyle(input, '::placeholder').unicodeBidi)
  t.equal(order, 'plaintext', 'an example begins where its language begins')
  const fold = page.locator('summary .fm-i')
  t.equal(await fold.evaluate((icon) => getComputedStyle(icon).rotate), '90deg', 'what is folded points left')
})
