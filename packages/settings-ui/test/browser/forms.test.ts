/** Json settings with a schema: lists and flat objects as forms, all else as JSON. */
import { setting, SettingScope } from '@fastify-modular/settings'
import { shows } from '@fastify-modular/test-support/shows'
import { Type } from '@sinclair/typebox'
import { test } from 'tap'
import { problems } from '../support/axe.js'
import { boxOf } from '../support/looks.js'
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
  const { page, app, open, row, complaints, save } = visited
  const saved = page.getByRole('status').getByText('1 setting saved')
  const form = (name: string) => page.getByRole('group', { name, exact: true })
  /** The name of what has the focus. */
  const focused = () =>
    page.evaluate(() => {
      const element = document.activeElement
      const label = element instanceof HTMLInputElement ? element.labels?.[0]?.textContent : undefined
      return element?.getAttribute('aria-label') ?? label ?? element?.textContent
    })

  await t.test(
    'items are added, changed, moved and removed by keyboard, in ordinary Tab order',
    async (t) => {
      await open('/settings/manage')
      const links = form('Links')
      await links.getByLabel('Label').focus()
      const stops = []
      for (let stop = 0; stop < 5; stop++) {
        await page.keyboard.press('Tab')
        stops.push(await focused())
      }
      t.same(stops, ['Port', 'New tab', 'Add Links', 'Form', 'More for Links'])
      await links.getByRole('button', { name: 'Add Links' }).press('Enter')
      await links.getByLabel('Label').nth(1).and(page.locator(':focus')).waitFor()
      await page.keyboard.type('Blog')
      await page.keyboard.press('Tab')
      await page.keyboard.type('8080')
      await links.getByRole('button', { name: 'Move Blog up' }).press('Enter')
      await shows(t, () => links.getByLabel('Label').first().inputValue(), 'Blog')
      await shows(t, focused, 'Move Blog up', 'the focus went with the button')
      await page.keyboard.press('Control+s')
      await saved.waitFor()
      t.same(app.settings.get(site.links), [{ label: 'Blog', port: 8080 }, { label: 'Docs' }])
      await links.getByRole('button', { name: 'Remove Docs' }).click()
      await shows(t, focused, 'Remove Blog', 'on the same button of the item before')
      await links.getByRole('button', { name: 'Remove Blog' }).click()
      await shows(t, focused, 'Add Links', 'where nothing is left')
      await save.click()
      await row('site.links').and(page.locator('[data-saved]')).waitFor()
      t.same(app.settings.get(site.links), [])
      t.same(complaints, [])
    },
  )

  await t.test('buttons move items, and what is put back is no change', async (t) => {
    await open('/settings/manage')
    const hosts = form('Hosts')
    await hosts.getByRole('button', { name: 'Move Item 1 down' }).click()
    await shows(t, () => hosts.getByRole('textbox', { name: 'Item 1' }).inputValue(), 'b.example')
    await page.getByText('1 unsaved change', { exact: true }).waitFor()
    await hosts.getByRole('button', { name: 'Move Item 2 up' }).click()
    await shows(t, () => page.locator('.fm-bar').count(), 0)
  })

  await t.test('errors of the server stand at their fields, and all else below', async (t) => {
    await open('/settings/manage')
    const links = form('Links')
    await links.getByRole('button', { name: 'Add Links' }).click()
    await links.getByLabel('Port').last().fill('x')
    await save.click()
    const label = links.getByLabel('Label').last()
    await links.getByText('A value is required.').waitFor()
    await shows(t, () => label.getAttribute('aria-invalid'), 'true')
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
    await links.getByRole('button', { name: 'Remove Four' }).click()
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
    const limits = form('Limits')
    await limits.getByLabel('Rate').fill('2.50')
    await shows(t, () => limits.getByLabel('Rate').inputValue(), '2.50', 'as it was typed')
    await limits.getByLabel('mode').selectOption('Hard')
    await save.click()
    await saved.waitFor()
    t.same(app.settings.get(site.limits), { rate: 2.5, mode: 'hard' })
  })

  await t.test('with a finger: each field of a form is 44 px high', async (t) => {
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Emulation.setTouchEmulationEnabled', { enabled: true })
    await open('/settings/manage')
    for (const name of ['Rate', 'mode'])
      t.ok((await boxOf(form('Limits').getByLabel(name))).height >= 44, name)
    await devtools.send('Emulation.setTouchEmulationEnabled', { enabled: false })
  })

  await t.test('the same value as JSON, and as a form again', async (t) => {
    await open('/settings/manage')
    const mode = (name: string) => row('site.limits').getByRole('radio', { name })
    await mode('Code').check()
    const text = page.getByRole('textbox', { name: 'Limits' })
    await text.fill('{"rate": 0, "mode": "soft", "extra": {}}')
    await shows(t, () => mode('Form').count(), 0, 'it has no place')
    await text.fill('{"rate": 0, "mode": "soft"}')
    await save.click()
    await form('Limits').getByText('Enter a number of at least 1.').waitFor()
    await shows(
      t,
      () => form('Limits').getByLabel('Rate').inputValue(),
      '0',
      'the form shows where it is wrong',
    )
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
    const links = form('Links')
    t.equal(await links.getByRole('button', { name: /Add|Remove|Move/ }).count(), 0)
    await shows(t, () => links.getByLabel('Label').getAttribute('readonly'), '')
    t.same(await problems(page), [])
  })
})
