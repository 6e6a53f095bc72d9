/** A page with little on it: what is not shown, and how controls look that are empty, wrong, narrow or read-only. */
import { test } from 'tap'
import { few } from '../support/hinted.js'
import { boxOf, contrastOf, looks } from '../support/looks.js'
import { visit } from '../support/visit.js'
import { shows } from '@fastify-modular/test-support/shows'

test('a few settings', async (t) => {
  const visited = await visit(t, { settings: { definitions: [few], overrides: {} } })
  if (!visited) return
  const { page, open, row, field, bar, save } = visited

  await t.test('F-16: there is no search, no filter and no syntax of a search', async (t) => {
    await open('/settings/manage')
    await shows(t, () => page.locator('[data-key]').count(), 5)
    t.equal(await page.getByRole('search').count(), 0)
    t.equal(await page.getByRole('searchbox').count(), 0)
    t.equal(await page.getByRole('button', { name: /Search|Filter/ }).count(), 0)
    t.notMatch(await page.locator('body').innerText(), /tag:|@(modified|locked|sensitive|type)/)
    const more = await page.getByRole('button', { name: 'More', exact: true }).boundingBox()
    const main = await page.locator('.fm-main').boundingBox()
    t.ok(more && main && Math.abs(more.x + more.width - main.x - main.width) < 1, 'export and import stay')
  })

  await t.test('F-16: a search that a link opens can be emptied, and another one made', async (t) => {
    for (const user of ['ada', 'vera']) {
      await open('/settings/manage?q=nowhere', user)
      const search = page.getByRole('searchbox')
      await shows(t, () => search.inputValue(), 'nowhere')
      await page.locator('.fm-empty').getByRole('button', { name: 'Clear search' }).click()
      await row('few.sender').waitFor()
      await shows(t, () => page.locator('[data-key]').count(), 5)
      await page.locator('[role=searchbox]:focus').waitFor()
      await page.keyboard.type('sender')
      await row('few.code').waitFor({ state: 'detached' })
      await search.fill('')
      await row('few.code').waitFor()
      await page.locator('[role=searchbox]:focus').waitFor()
    }
    await open('/settings/preferences?q=nowhere')
    t.equal(await page.getByRole('searchbox').count(), 0, 'where there is nothing to search')
  })

  await t.test('F-26: a placeholder is told from a value by its words and its style', async (t) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await open('/settings/manage', 'ada', { colorScheme })
      const sender = field('Sender')
      await shows(t, () => sender.getAttribute('placeholder'), 'e.g. Harbour notes')
      const empty = await looks(sender, '::placeholder')
      await sender.fill('Harbour notes')
      const filled = await looks(sender)
      const { background } = await looks(row('few.sender').locator('.fm-field'))
      t.not(empty.color, filled.color)
      t.same([empty.style, filled.style], ['italic', 'normal'])
      const contrast = contrastOf(empty.color, background)
      t.ok(contrast >= 4.5, `${contrast.toFixed(2)}:1, ${colorScheme}`)
    }
  })

  await t.test('a message stands in the bar, below all controls, and goes with the next edit', async (t) => {
    await open('/settings/manage')
    await field('Sender').fill('Saved')
    await save.click()
    await bar.getByText('1 setting saved').waitFor()
    await page.setViewportSize({ width: 1280, height: 1200 })
    const last = await boxOf(row('few.receipts'))
    t.ok((await boxOf(bar)).y >= last.y + last.height, 'it covers no control')
    await page.setViewportSize({ width: 1280, height: 800 })
    await shows(t, () => page.locator('.fm-bar button').count(), 2, 'Undo, and the way to dismiss it')
    await field('Sender').fill('Draft')
    await bar.getByText('1 unsaved change').waitFor()
    await shows(t, () => bar.getByText('setting saved').count(), 0)
  })

  await t.test('F-31: what does not match a pattern is answered by its hint alone', async (t) => {
    await open('/settings/manage')
    await field('Code').fill('x')
    await save.click()
    await row('few.code').getByText('Two to ten capital letters, such as ABC.').waitFor()
    await shows(t, () => field('Code').getAttribute('aria-invalid'), 'true')
    await page.route('**/api/settings/bulk', (route) =>
      route.continue({ postData: (route.request().postData() ?? '').replace('"ABC"', '"x"') }),
    )
    await field('Code').fill('ABC')
    const [response] = await Promise.all([page.waitForResponse('**/api/settings/bulk'), save.click()])
    t.match(await response.text(), /Two to ten capital letters, such as ABC/)
    await row('few.code').and(page.locator('[data-state=invalid]')).waitFor()
    await row('few.code').getByText('Two to ten capital letters, such as ABC.').waitFor()
    await page.unroute('**/api/settings/bulk')
    t.notOk((await page.content()).includes('{2,10}'), 'nor what the server answers')
  })

  await t.test(
    'F-31: without a hint a text says what would match, and never how it is checked',
    async (t) => {
      await open('/settings/manage')
      await field('Sender').fill('<b>')
      await save.click()
      await row('few.sender').getByText('Enter text in the same format as Harbour notes.').waitFor()
      t.notMatch(await page.content(), /\[\^&lt;&gt;\]|\[\^<>\]/)
    },
  )

  await t.test('F-28: label and control stand as the container allows, whatever the window', async (t) => {
    await open('/settings/manage', 'ada', { size: { width: 820, height: 1180 } })
    const places = async () => ({
      row: await boxOf(row('few.sender')),
      label: await boxOf(row('few.sender').locator('.fm-about > p')),
      field: await boxOf(row('few.sender').locator('.fm-field')),
    })
    const tablet = await places()
    await shows(t, () => page.locator('.fm-nav').isVisible(), false, 'the groups take nothing of the width')
    t.ok(tablet.label.width >= 200, `${tablet.label.width} px for the label`)
    t.ok(tablet.field.x >= tablet.label.x + tablet.label.width, 'the control beside it')
    await field('Sender').fill('Draft')
    const name = await boxOf(row('few.sender').locator('label'))
    const tools = await boxOf(row('few.sender').locator('.fm-acts'))
    t.ok(tools.y < name.y + name.height && tools.y + tools.height > name.y, 'tools do not wrap')

    await page.setViewportSize({ width: 1280, height: 800 })
    await page.locator('#fm-app').evaluate((element) => (element.style.width = '600px'))
    const narrow = await places()
    t.ok(narrow.row.width <= 600)
    t.ok(narrow.field.y >= narrow.label.y + narrow.label.height, 'the control below its label')
    t.equal(narrow.field.x, narrow.label.x)
    t.ok(narrow.field.width > narrow.row.width * 0.9, 'as wide as the row')
  })

  await t.test('F-32: who may only read sees switches and colours that are not to be changed', async (t) => {
    const seen = async () => ({
      on: await looks(field('Receipts')),
      thumb: await looks(field('Receipts'), '::before'),
      off: await looks(field('Copies')),
      color: await looks(row('few.color').locator('.fm-field')),
      text: await looks(field('Colour')),
    })
    await open('/settings/manage')
    const enabled = await seen()
    t.equal(await row('few.color').locator('.fm-field > .fm-i').count(), 0)
    await open('/settings/manage', 'vera')
    const readOnly = await seen()
    t.not(readOnly.on.background, enabled.on.background)
    t.not(readOnly.on.background, enabled.off.background)
    t.not(readOnly.thumb.background, enabled.thumb.background)
    t.not(readOnly.off.background, enabled.off.background)
    t.not(readOnly.color.background, enabled.color.background)
    t.not(readOnly.text.color, enabled.text.color)
    t.same([enabled.on.cursor, readOnly.on.cursor], ['pointer', 'default'])
    t.equal(
      await row('few.color').locator('.fm-field > .fm-i').count(),
      0,
      'a lock is for what the server fixes',
    )
    await shows(t, () => page.getByText('You can view these settings.').isVisible(), true)
  })
})
