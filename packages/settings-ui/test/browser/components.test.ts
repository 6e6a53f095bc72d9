/** The components on pages of a host, which renders them as hosts do: several at once, with functions in line. */
import { SettingScope } from '@fastify-modular/settings'
import { test } from 'tap'
import { problems } from '../support/axe.js'
import { definitions } from '../support/definitions.js'
import { serve } from '../support/react-flavour.js'
import { visit } from '../support/visit.js'

const start = `
  import { createElement, useState } from 'react'
  import { createRoot } from 'react-dom/client'
  import { SettingsGroup, Preferences } from '@fastify-modular/settings-ui/react'
  import { de } from '@fastify-modular/settings-ui/texts'
  import '@fastify-modular/settings-ui/react/styles.css'
  const render = (Host) => createRoot(document.getElementById('fm-app')).render(createElement(Host))
  const button = (name, onClick) => createElement('button', { type: 'button', onClick }, name)`

test('a component on a page of a host', async (t) => {
  const visited = await visit(t)
  if (!visited) return
  const { page, open, row, app } = visited
  const body = page.locator('body')
  const port = page.getByLabel('SMTP port', { exact: true })
  const press = (name: string) => page.getByRole('button', { name }).click()
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.url()))

  // Everything is new in each rendering, and each names the rendering that it is of.
  const hostPage = `${start}
    function Host() {
      const [count, setCount] = useState(0)
      const [locale, setLocale] = useState('en')
      const [isShown, setShown] = useState(true)
      const note = (name, value) => void (document.body.dataset[name] = value + ' ' + count)
      return createElement('div', null,
        button('Render again', () => setCount(count + 1)),
        button('Auf Deutsch', () => setLocale('de')),
        button('Take it away', () => setShown(false)),
        isShown && createElement(SettingsGroup, {
          group: 'Mail', canUpdate: true, isAdmin: true, locale,
          messages: { ...(locale === 'de' && de), undoOf: 'Undo it {name}', saved: { other: 'Saved in ' + locale } },
          fetch: (...request) => fetch(...request),
          onDirtyChange: (isDirty) => note('dirty', isDirty),
          onSaved: () => note('saved', 'yes'),
        }))
    }
    render(Host)`
  await serve(page, { code: hostPage })

  await t.test('one group: a heading, its settings, no search', async (t) => {
    await open('/settings/manage')
    t.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'Mail')
    t.equal(await page.locator('[data-key]').count(), 3)
    t.equal(await page.getByRole('searchbox').count(), 0)
  })

  await t.test(
    'what was entered outlives new functions and texts; the latest functions are called',
    async (t) => {
      await open('/settings/manage')
      requests.length = 0
      await port.fill('25')
      t.equal(await body.getAttribute('data-dirty'), 'true 0')
      await press('Render again')
      t.equal(await port.inputValue(), '25')
      await press('Undo it SMTP port')
      t.equal(await body.getAttribute('data-dirty'), 'false 1')
      t.same(requests, [], 'nothing was loaded again')
      await port.fill('26')
      await press('Render again')
      await port.press('Enter')
      await page.locator('body[data-saved]').waitFor()
      t.equal(await body.getAttribute('data-saved'), 'yes 2')
      await page.locator('body[data-dirty="false 2"]').waitFor()
      t.equal(app.settings.get(definitions.port), 26)
    },
  )

  await t.test(
    'what was entered outlives another language, in which the settings are asked for',
    async (t) => {
      await open('/settings/manage')
      await port.fill('27')
      const asked = page.waitForRequest('**/definitions')
      await press('Auf Deutsch')
      t.equal((await asked).headers()['accept-language'], 'de')
      await row('mail.port').and(page.locator('[data-state=unsaved]')).waitFor()
      await page.getByRole('button', { name: 'Speichern' }).waitFor()
      t.equal(await port.inputValue(), '27')
      await port.press('Enter')
      await page.getByText('Saved in de').first().waitFor()
    },
  )

  await t.test('a component that is taken away leaves nothing unsaved', async (t) => {
    await open('/settings/manage')
    await port.fill('28')
    await page.locator('body[data-dirty="true 0"]').waitFor()
    await press('Take it away')
    await page.locator('body[data-dirty="false 0"]').waitFor()
    t.pass()
  })

  await t.test(
    "the address stays the host's own, also when a link names a setting of another group",
    async (t) => {
      await page.clock.install()
      const path = '/settings/manage?only=mine&q=a%20b'
      await open(`${path}#setting:contact.website`)
      await page.clock.runFor(1000) // the address of the administration follows within
      t.equal(page.url(), `${visited.url}${path}#setting:contact.website`)
      t.equal(await page.locator('[data-key]:visible').count(), 3)
      await page.goto(`${visited.url}${path}#setting:mail.port`)
      await page.clock.runFor(1000)
      await page.locator('[data-key="mail.port"] input:focus').waitFor()
      t.equal(page.url(), `${visited.url}${path}#setting:mail.port`)
    },
  )
})

test('several components on one page of a host', async (t) => {
  const visited = await visit(t)
  if (!visited) return
  const { page, open, app, warnings } = visited
  const mail = page.locator('form', { hasText: 'SMTP port' })
  const theme = page.locator('#own').getByLabel('Theme', { exact: true })
  const port = page.getByLabel('SMTP port', { exact: true })
  const dense = page.getByRole('radio', { name: 'dense' })
  const dialog = page.getByRole('dialog')

  // Mail, Appearance with the application's default of a theme, and the same theme as the caller's own choice.
  await serve(page, {
    code: `${start}
      const all = { canUpdate: true, isAdmin: true }
      render(() => createElement('div', null,
        createElement(SettingsGroup, { ...all, group: 'Mail', id: 'fm' }),
        createElement(SettingsGroup, { ...all, group: 'Appearance' }),
        createElement('div', { id: 'own' }, createElement(Preferences, { canUpdate: true }))))`,
  })
  const openAll = async () => {
    await open('/settings/manage')
    await page.locator('form').nth(2).waitFor()
  }

  await t.test('no id is there twice, each label belongs to its own field, axe finds nothing', async (t) => {
    await openAll()
    const ids = await page.locator('[id]').evaluateAll((all) => all.map(({ id }) => id))
    t.same(
      ids.filter((id, index) => ids.indexOf(id) !== index),
      [],
    )
    await page.locator('#own label', { hasText: 'Theme' }).click()
    t.ok(await theme.evaluate((element) => element.contains(document.activeElement)))
    // Two groups of one name are this host's idea.
    t.same(await problems(page).then((all) => all.filter((each) => !each.startsWith('landmark-unique'))), [])
  })

  await t.test('Ctrl+S saves where the focus is, and everything where it is in none', async (t) => {
    await openAll()
    await port.fill('25')
    await dense.check()
    await port.press('Control+s')
    await page.locator('.fm-bar').getByText('1 setting saved').waitFor()
    t.equal(app.settings.get(definitions.port), 25)
    t.equal(app.settings.get(definitions.style), 'calm')
    await port.fill('26')
    await page.getByRole('button', { name: 'Review' }).first().click()
    await dialog.waitFor()
    await page.keyboard.press('Control+s')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    t.equal(app.settings.get(definitions.port), 25, 'a dialog has buttons of its own')
    await page.locator(':focus').blur()
    await page.keyboard.press('Control+s')
    await page.waitForFunction(() => !document.body.innerText.includes('unsaved'))
    t.equal(app.settings.get(definitions.port), 26)
    t.equal(app.settings.get(definitions.style), 'dense')
  })

  await t.test('the browser asks once before it leaves what several have unsaved', async (t) => {
    await openAll()
    await port.fill('25')
    await dense.check()
    await port.click()
    await page.reload()
    t.same(warnings, ['beforeunload'])
  })

  await t.test("the title counts the errors of each, and is the host's again without them", async (t) => {
    await openAll()
    const title = await page.title()
    await port.fill('0')
    await port.press('Enter')
    await mail.getByRole('button', { name: '1 needs attention' }).waitFor()
    await page.locator('#own').getByLabel('Rows per page', { exact: true }).fill('1')
    await page.locator('#own').getByLabel('Rows per page', { exact: true }).press('Enter')
    await page.locator('#own').getByRole('button', { name: '1 needs attention' }).waitFor()
    t.equal(await page.title(), `Error (1): Error (1): ${title}`)
    for (let left = 2; left > 0; left--) {
      await page.getByRole('button', { name: 'Discard' }).first().click()
      await page
        .getByRole('button', { name: 'Discard' })
        .nth(left - 1)
        .waitFor({ state: 'detached' })
    }
    t.equal(await page.title(), title)
    t.equal(await app.settings.contract.getSetting('mail.port', SettingScope.System), null)
  })
})
