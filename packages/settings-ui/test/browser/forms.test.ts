/** Json settings with a schema: lists and flat objects as forms, all else as JSON. */
import { setting, SettingScope } from '@fastify-modular/settings'
import { Type } from '@sinclair/typebox'
import { test } from 'tap'
import { problems } from '../support/axe.js'
import { visit } from '../support/visit.js'

const common = { scope: SettingScope.Application, group: 'Site' }
const site = {
  links: setting.json('site.links', {
    ...common,
    displayName: 'Links',
    schema: Type.Array(
      Type.Object({
        label: Type.String({ title: 'Label', minLength: 1 }),
        port: Type.Optional(Type.Integer({ title: 'Port', minimum: 1 })),
        isNew: Type.Optional(Type.Boolean({ title: 'New tab' })),
      }),
      { maxItems: 3 },
    ),
    default: [{ label: 'Docs' }],
  }),
  hosts: setting.json('site.hosts', {
    ...common,
    displayName: 'Hosts',
    order: 1,
    schema: Type.Array(Type.String({ minLength: 1 })),
    default: ['a.example', 'b.example'],
  }),
  limits: setting.json('site.limits', {
    ...common,
    displayName: 'Limits',
    order: 2,
    schema: Type.Object({
      rate: Type.Number({ title: 'Rate', minimum: 1 }),
      mode: Type.Union([Type.Literal('soft', { title: 'Soft' }), Type.Literal('hard', { title: 'Hard' })]),
    }),
    default: { rate: 10, mode: 'soft' },
  }),
  deep: setting.json('site.deep', {
    ...common,
    displayName: 'Deep',
    order: 3,
    schema: Type.Object({ routes: Type.Array(Type.Object({ to: Type.String() })) }),
  }),
}

test('forms of Json settings', async (t) => {
  const visited = await visit(t, { settings: { definitions: [site], overrides: {} } })
  if (!visited) return
  const { page, app, open, row, complaints } = visited
  const save = page.getByRole('button', { name: 'Save', exact: true })
  const saved = page.getByRole('status').getByText('Saved 1 setting.')
  const grid = (name: string) => page.getByRole('grid', { name })
  const focused = () =>
    page.evaluate(() => document.activeElement?.getAttribute('data-cell') ?? document.activeElement?.tagName)

  await t.test(
    'items are added, changed, moved and removed by keyboard, with one stop for Tab',
    async (t) => {
      await open('/settings/manage')
      const links = grid('Links')
      await links.getByLabel('Label').focus()
      await page.keyboard.press('ArrowDown')
      t.equal(await focused(), '1 0', 'the button that adds')
      await page.keyboard.press('Enter')
      await page.waitForFunction(() => document.activeElement?.getAttribute('data-cell') === '1 0')
      await page.keyboard.type('Blog')
      await page.keyboard.press('ArrowRight')
      await page.keyboard.type('8080')
      await page.keyboard.press('Alt+ArrowUp')
      await page.waitForFunction(() => document.activeElement?.getAttribute('data-cell') === '0 1')
      t.equal(await links.getByLabel('Label').first().inputValue(), 'Blog')
      await page.keyboard.press('ArrowLeft')
      await page.keyboard.press('ArrowLeft')
      t.equal(await focused(), '0 1', 'within a text the arrow moves the caret')
      await page.keyboard.press('Home')
      await page.keyboard.press('ArrowLeft')
      t.equal(await focused(), '0 0')
      await page.keyboard.press('Control+s')
      await saved.waitFor()
      t.same(app.settings.get(site.links), [{ label: 'Blog', port: 8080 }, { label: 'Docs' }])
      await links.getByRole('button', { name: 'Remove item 2' }).click()
      t.equal(await focused(), '0 5', 'on the same button of the item before')
      await links.getByRole('button', { name: 'Remove item 1' }).click()
      t.equal(await focused(), '0 0', 'on the button that adds, where nothing is left')
      await save.click()
      await page.locator('.fm-bar').waitFor({ state: 'detached' }) // the message of the first save may still be there
      t.same(app.settings.get(site.links), [])
      await links.getByRole('button', { name: 'Add Links' }).focus()
      const stops = await links.evaluate((form) => form.querySelectorAll('[data-cell][tabindex="0"]').length)
      t.equal(stops, 1)
      t.same(complaints, [])
    },
  )

  await t.test('buttons move items, and what is put back is no change', async (t) => {
    await open('/settings/manage')
    const hosts = grid('Hosts')
    await hosts.getByRole('button', { name: 'Move item 1 down' }).click()
    t.equal(await hosts.getByLabel('Hosts, item 1').inputValue(), 'b.example')
    await page.getByText('1 unsaved change', { exact: true }).waitFor()
    await hosts.getByRole('button', { name: 'Move item 2 up' }).click()
    t.equal(await page.locator('.fm-bar').count(), 0)
  })

  await t.test('Alt and an arrow move an item; elsewhere they lead to what needs attention', async (t) => {
    await open('/settings/manage')
    const first = grid('Hosts').getByLabel('Hosts, item 1')
    await page.getByRole('textbox', { name: 'Deep' }).fill('{')
    await first.focus()
    await page.getByRole('button', { name: '1 needs attention' }).waitFor()
    await page.keyboard.press('Alt+ArrowDown')
    await page.waitForFunction(() => document.activeElement?.getAttribute('data-cell') === '1 0')
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))))
    t.equal(await focused(), '1 0')
    await page.keyboard.press('Alt+ArrowUp')
    await page.waitForFunction(() => document.activeElement?.getAttribute('data-cell') === '0 0')
    t.equal(await first.inputValue(), 'a.example')
    await grid('Limits').getByLabel('Rate').focus()
    await page.keyboard.press('Alt+ArrowDown')
    await page.locator('[data-key="site.deep"] textarea:focus').waitFor()
  })

  await t.test(
    'in text from right to left an arrow moves the caret up to the end that it points to',
    async (t) => {
      await open('/settings/manage')
      const first = grid('Hosts').getByLabel('Hosts, item 1')
      const caret = () => first.evaluate((input: HTMLInputElement) => input.selectionStart)
      const putCaret = (at: number) =>
        first.evaluate((input: HTMLInputElement, place) => input.setSelectionRange(place, place), at)
      await first.fill('مرحبا')
      await putCaret(0)
      await page.keyboard.press('ArrowLeft')
      t.equal(await caret(), 1)
      await putCaret(5)
      await page.keyboard.press('ArrowRight')
      t.equal(await caret(), 4)
      t.equal(await focused(), '0 0')
      await putCaret(0)
      await page.keyboard.press('ArrowRight')
      t.equal(await focused(), '0 1')
    },
  )

  await t.test('errors of the server stand at their fields, and all else below', async (t) => {
    await open('/settings/manage')
    const links = grid('Links')
    await links.getByRole('button', { name: 'Add Links' }).click()
    await links.getByLabel('Port').last().fill('x')
    await save.click()
    const label = links.getByLabel('Label').last()
    await links.getByText('A value is required.').waitFor()
    t.equal(await label.getAttribute('aria-invalid'), 'true')
    t.equal(await links.getByLabel('Label').first().getAttribute('aria-invalid'), null)
    await links.getByText('Enter a whole number.').waitFor()
    t.equal(await row('site.links').locator('.is-of-parts').isVisible(), false, 'said once')
    t.same(await problems(page), [])
    await label.fill('Blog')
    await links.getByLabel('Port').last().fill('')
    await links.getByRole('switch', { name: 'New tab' }).last().check()
    await links.getByRole('button', { name: 'Add Links' }).click()
    await links.getByLabel('Label').last().fill('Three')
    await links.getByRole('button', { name: 'Add Links' }).click()
    await links.getByLabel('Label').last().fill('Four')
    await save.click()
    await row('site.links').getByText('Enter at most 3 items.').waitFor()
    await links.getByRole('button', { name: 'Remove item 4' }).click()
    await save.click()
    await saved.waitFor()
    t.same(app.settings.get(site.links), [
      { label: 'Docs' },
      { label: 'Blog', isNew: true },
      { label: 'Three' },
    ])
  })

  await t.test('an object is a form too; its fields are numbers and choices', async (t) => {
    await open('/settings/manage')
    const limits = grid('Limits')
    await limits.getByLabel('Rate').fill('2.50')
    t.equal(await limits.getByLabel('Rate').inputValue(), '2.50', 'as it was typed')
    await limits.getByLabel('mode').selectOption('Hard')
    await save.click()
    await saved.waitFor()
    t.same(app.settings.get(site.limits), { rate: 2.5, mode: 'hard' })
  })

  await t.test('the same value as JSON, and as a form again', async (t) => {
    await open('/settings/manage')
    await grid('Limits').getByRole('button', { name: 'Edit as JSON Limits' }).click()
    const text = page.getByRole('textbox', { name: 'Limits' })
    await text.fill('{"rate": 0, "mode": "soft", "extra": {}}')
    t.equal(
      await row('site.limits')
        .getByRole('button', { name: /^Edit as form/ })
        .count(),
      0,
      'it has no place',
    )
    await text.fill('{"rate": 0, "mode": "soft"}')
    await save.click()
    await grid('Limits').getByText('Enter a number of at least 1.').waitFor()
    t.equal(await grid('Limits').getByLabel('Rate').inputValue(), '0', 'the form shows where it is wrong')
  })

  await t.test('a deeper schema is edited as JSON, and its errors say where', async () => {
    await open('/settings/manage')
    const text = page.getByRole('textbox', { name: 'Deep' })
    await text.fill('{"routes": [{"to": 5}]}')
    await save.click()
    await row('site.deep').getByText('/routes/0/to: Enter text.').waitFor()
  })

  await t.test('who may not change a form reads it', async (t) => {
    await open('/settings/manage', 'vera')
    const links = grid('Links')
    t.equal(await links.getByRole('button', { name: /Add|Remove|Move/ }).count(), 0)
    t.equal(await links.getByLabel('Label').getAttribute('readonly'), '')
    t.same(await problems(page), [])
  })
})
