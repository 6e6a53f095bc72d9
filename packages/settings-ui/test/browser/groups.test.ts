/** The list of groups: their faces, and its search where there are many. */
import { setting, SettingScope } from '@fastify-modular/settings'
import { shows } from '@fastify-modular/test-support/shows'
import { test } from 'tap'
import { problems } from '../support/axe.js'
import { phone, visit } from '../support/visit.js'

const names = Array.from({ length: 12 }, (_, index) => `Section ${index + 1}`)
const definitions = names.map((group, index) =>
  setting.text(`many.s${index}`, { displayName: `Text ${index}`, group, scope: SettingScope.Application }),
)

test('the list of groups', async (t) => {
  const visited = await visit(t, {
    settings: {
      definitions,
      overrides: {},
      groups: { 'Section 1': { icon: 'brush', description: 'The first of many.' } },
      locales: ['de'],
      translateGroup: (name) => (name === 'Section 12' ? { displayName: 'Écrans' } : undefined),
    },
  })
  if (!visited) return
  const { page, open, complaints } = visited
  const list = page.getByRole('navigation', { name: 'Groups' })

  await t.test('from twelve groups on it has a search, as one types; Escape brings all back', async (t) => {
    await open('/settings/manage')
    const field = list.getByRole('textbox', { name: 'Groups' })
    await field.fill('12')
    await shows(t, () => list.getByRole('link').allInnerTexts(), ['Section 12', 'Activity'])
    await field.press('Escape')
    await shows(t, () => list.getByRole('link').count(), 13)
    t.same(await problems(page), [])
  })

  await t.test('on a phone it is in the menu, whose icons are no alarm', async (t) => {
    await open('/settings/manage?group=section-1', 'ada', { size: phone })
    const picker = page.getByRole('button', { name: /^Groups/ })
    await shows(t, () => picker.locator('svg').count(), 2, 'the icon of the group, and that of the menu')
    await picker.click()
    const menu = page.getByRole('group', { name: /^Groups/ })
    await menu.getByRole('textbox', { name: 'Groups' }).fill('section 1')
    await shows(t, () => menu.getByRole('link').count(), 5, '1, 10, 11, 12 and Activity')
    const [icon, clock] = await menu
      .locator('svg path')
      .evaluateAll((all) => [all.at(1), all.at(-1)].map((each) => each && getComputedStyle(each).stroke))
    t.equal(icon, clock)
    t.same(await problems(page), [])
    t.same(complaints, [])
  })
})

test('few groups have no search', async (t) => {
  const visited = await visit(t, { settings: { definitions: definitions.slice(0, 11), overrides: {} } })
  if (!visited) return
  await visited.open('/settings/manage')
  const list = visited.page.getByRole('navigation', { name: 'Groups' })
  await list.getByRole('link', { name: 'Section 11' }).waitFor()
  t.equal(await list.getByRole('textbox').count(), 0)
})
