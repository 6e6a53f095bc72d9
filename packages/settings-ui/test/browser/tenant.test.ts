/** The page of an organisation, and what its values are on other pages of its members. */
import { SettingScope } from '@fastify-modular/settings'
import { shows } from '@fastify-modular/test-support/shows'
import { test } from 'tap'
import { problems } from '../support/axe.js'
import { withOrganisations } from '../support/organisations.js'
import { plainHost, plainPath } from '../support/plain-host.js'
import { follow, phone, visit, type Visit } from '../support/visit.js'

const { Application, Tenant } = SettingScope

/** Opens a page as a member of an organisation that has no values yet. */
async function openIn(visited: Visit, organisation: string, ...visiting: Parameters<Visit['open']>) {
  for (const each of ['acme', 'bolt']) await visited.app.settings.eraseTenant(each)
  await enter(visited, organisation)
  await visited.open(...visiting)
}

/** Another tab switches to an organisation. */
const enter = ({ browser, url }: Visit, name: string) =>
  browser.addCookies([{ name: 'organisation', value: name, url }])

const storedIn = async ({ app }: Visit, tenant: string) =>
  Object.fromEntries(
    (await app.settings.contract.getSettingValues({ scope: Tenant, tenant })).map(({ key, value }) => [
      key,
      value,
    ]),
  )

const { modules = [], ...rest } = withOrganisations()
const options = { ...rest, modules: [...modules, plainHost] }

test('the page of an organisation', async (t) => {
  const visited = await visit(t, options)
  if (!visited) return
  const { page, app, row, field, save, bar, writes, warnings, complaints } = visited
  const heading = page.getByRole('heading', { level: 1 })

  await t.test('it has the name, whom it concerns, and rows as preferences have them', async (t) => {
    await openIn(visited, 'acme', '/settings/tenant', 'vera')
    await shows(t, () => heading.textContent(), 'Acme')
    await shows(t, () => page.title(), 'Acme · Test host')
    await page.getByText('Everybody at Acme has these, unless they choose for themselves.').waitFor()
    const keys = await page
      .locator('[data-key]')
      .evaluateAll((rows) => rows.map((each) => each.dataset['key']))
    t.notOk(keys.includes('app.title'), 'no Application setting')
    t.equal(keys.length, 7)
    t.equal(await page.getByText('org.brand').count(), 0, 'no keys')
    t.equal(await page.getByRole('button', { name: /^More/ }).count(), 0, 'no menus')
    await shows(t, () => field('Seats').getAttribute('readonly'), '', 'a limit of the plan')
    t.same(complaints, [])
  })

  await t.test(
    'changes are saved together, by the keyboard as well, and inherited values come back',
    async (t) => {
      await app.settings.contract.setSetting('org.brand', 'Everybody', Application)
      await openIn(visited, 'acme', '/settings/tenant', 'vera')
      await field('Brand').fill('Acme Notes')
      await row('org.brand').getByText('The default is My product.').waitFor()
      await row('user.theme').getByRole('radio', { name: 'dark' }).check()
      t.equal(writes.length, 0, 'not each at once')
      await field('Brand').focus()
      await page.keyboard.press('Control+S')
      await bar.getByText('2 settings saved').waitFor()
      t.same(await storedIn(visited, 'acme'), { 'org.brand': 'Acme Notes', 'user.theme': 'dark' })
      t.same(await storedIn(visited, 'bolt'), {})
      t.equal(await bar.getByRole('button', { name: 'Undo' }).count(), 0, 'there is no way back to promise')
      await row('org.brand').getByRole('button', { name: 'Reset Brand' }).click()
      await page.getByRole('status').getByText('Brand was reset.').waitFor({ state: 'attached' })
      await shows(t, () => field('Brand').inputValue(), 'My product')
      await field('Brand').and(page.locator(':focus')).waitFor()
      t.same(await storedIn(visited, 'acme'), { 'user.theme': 'dark' })
    },
  )

  await t.test(
    'all or nothing: what is wrong, and what somebody has changed, keeps the rest back',
    async (t) => {
      await openIn(visited, 'acme', '/settings/tenant', 'vera')
      await field('Invoices go to').fill('nobody')
      await field('Brand').fill('Mine')
      await save.click()
      await bar.getByText('1 needs attention').waitFor()
      t.same(await storedIn(visited, 'acme'), {})
      await field('Invoices go to').fill('billing@acme.example')
      await app.settings.set('org.brand', 'Theirs', { tenant: 'acme' })
      await save.click()
      await row('org.brand')
        .getByRole('button', { name: /^Keep mine/ })
        .waitFor()
      t.same(await storedIn(visited, 'acme'), { 'org.brand': 'Theirs' })
      await row('org.brand')
        .getByRole('button', { name: /^Keep mine/ })
        .click()
      await save.click()
      await bar.getByText('2 settings saved').waitFor()
      t.match(await storedIn(visited, 'acme'), {
        'org.brand': 'Mine',
        'org.invoices': 'billing@acme.example',
      })
    },
  )

  await t.test('what is entered shows in the page as this organisation will see it', async (t) => {
    await openIn(visited, 'acme', '/settings/tenant', 'vera')
    const title = page.locator('.fm-brand')
    await field('Brand').fill('Acme Notes')
    await title.getByText('Acme Notes').waitFor()
    await openIn(visited, 'acme', '/settings/manage', 'ada')
    await app.settings.set('org.brand', 'Theirs', { tenant: 'acme' })
    await field('Brand').fill('A new default')
    await row('org.brand').getByText('Acme has its own value').waitFor()
    t.equal(await title.textContent(), 'Test host', 'the default of others changes nothing here')
    await enter(visited, 'bolt')
    await visited.reload()
    await field('Brand').fill('A new default')
    await title.getByText('A new default').waitFor()
  })

  await t.test(
    'after a switch nothing is shown, nothing is saved, and drafts stay where they belong',
    async (t) => {
      await openIn(visited, 'acme', '/settings/tenant', 'vera')
      await field('Brand').fill('For Acme')
      await field('API token').fill('hush')
      await enter(visited, 'bolt')
      await save.click()
      await page.getByRole('status').getByText('You are in Bolt now').waitFor()
      t.equal(await page.locator('[data-key]').count(), 0, 'no value of the one under the name of the other')
      await page.getByText('Your 2 changes stay with the organisation that they are for.').waitFor()
      await shows(t, () => heading.textContent(), 'Acme')
      await page.locator('.fm-brand').getByText('Test host').waitFor()
      t.same(await problems(page), [])
      const { length } = writes
      await page.keyboard.press('Control+S')
      t.equal(writes.length, length, 'nothing is sent any more')
      t.same([await storedIn(visited, 'acme'), await storedIn(visited, 'bolt')], [{}, {}])
      const reload = page.getByRole('button', { name: 'Reload' })
      await reload.and(page.locator(':focus')).waitFor() // the focus was in a row
      await Promise.all([page.waitForEvent('load'), reload.click()])
      t.same(warnings, ['beforeunload'], 'a secret is not kept')
      await page.getByText('You may not change the settings of Bolt.').waitFor()
      await enter(visited, 'acme')
      await visited.reload()
      await shows(t, () => field('Brand').inputValue(), 'For Acme')
      t.equal(await field('API token').inputValue(), '')
      await save.click()
      await bar.getByText('1 setting saved').waitFor()
      t.same(await storedIn(visited, 'acme'), { 'org.brand': 'For Acme' })
    },
  )

  await t.test('elements name their organisation, each its own', async (t) => {
    await openIn(visited, 'acme', '/settings/preferences', 'eve')
    await page.goto(
      visited.url +
        plainPath(
          '<fm-settings id="b" page="tenant" tenant="bolt"></fm-settings><fm-settings id="a" page="tenant" tenant="acme"></fm-settings>',
        ),
    )
    const bolt = page.locator('#b')
    await bolt.getByLabel('Brand', { exact: true }).fill('Bolt')
    await bolt.getByRole('button', { name: /^Save 1/ }).click()
    await bolt.getByText('1 setting saved').first().waitFor()
    t.same(await storedIn(visited, 'bolt'), { 'org.brand': 'Bolt' })
    t.equal(
      (await page.locator('#a').getByRole('alert').textContent())?.trim(),
      'You may not change the settings of Acme. Try again',
    )
  })
})

test('what an organisation gives to the preferences of its members', async (t) => {
  const visited = await visit(t, options)
  if (!visited) return
  const { page, app, row, field } = visited

  await t.test('"From Acme", and the way back', async (t) => {
    await openIn(visited, 'acme', '/settings/preferences', 'vera')
    await app.settings.set('user.theme', 'light', { tenant: 'acme' })
    await visited.reload()
    const theme = row('user.theme')
    await shows(t, () => theme.locator('.fm-pill').textContent(), 'From Acme')
    await shows(t, () => theme.getAttribute('data-state'), 'default')
    await theme.getByRole('radio', { name: 'dark' }).check()
    await theme.getByText('Acme’s is light.').waitFor()
    const back = theme.getByRole('button', { name: 'Back to Acme’s Theme' })
    await back.waitFor()
    t.same(await problems(page), [])
    await back.click()
    await theme.getByText('From Acme').waitFor()
    await shows(t, () => theme.getByRole('radio', { name: 'light' }).isChecked(), true)
    await field('Rows per page').fill('50')
    await field('Rows per page').blur()
    await row('user.page_size').getByText('The default is 25.').waitFor()
    await row('user.page_size').getByRole('button', { name: 'Reset Rows per page' }).waitFor()
  })

  await t.test('an organisation without a name, and names that are not what they seem', async (t) => {
    const odd = '{value} {constructor} <b>"&'
    const unnamed = await visit(t, withOrganisations({ bolt: odd }))
    if (!unnamed) return
    const theme = unnamed.row('user.theme')
    const words = async (organisation: string) => {
      await openIn(unnamed, organisation, '/settings/preferences', 'eve')
      await unnamed.app.settings.set('user.theme', 'light', { tenant: organisation })
      await unnamed.reload()
      const pill = await theme.locator('.fm-pill').textContent()
      await theme.getByRole('radio', { name: 'dark' }).check()
      const back = theme.getByRole('button', { name: /^Back to/ })
      await back.waitFor()
      return [pill, await back.textContent(), await theme.locator('.fm-about p').textContent()]
    }
    t.same(await words('acme'), [
      'From your organisation',
      'Back to your organisation’s Theme',
      'Light, dark, or as the device is set. Your organisation’s is light. ',
    ])
    t.same(await words('bolt'), [
      `From ${odd}`,
      `Back to ${odd}’s Theme`,
      `Light, dark, or as the device is set. ${odd}’s is light. `,
    ])
    await openIn(unnamed, 'bolt', '/settings/tenant', 'eve')
    await shows(t, () => unnamed.page.getByRole('heading', { level: 1 }).textContent(), odd)
    t.same(unnamed.complaints, [])
  })
})

test('what others change in an organisation, and a switch, reach open pages', async (t) => {
  const visited = await visit(t, options)
  if (!visited) return
  const { page, app, row, field, bar, writes } = visited
  const openLive = (path: string) => follow(page, () => openIn(visited, 'acme', path, 'vera'))

  await t.test('the page of the organisation and the preferences of a member', async (t) => {
    await openLive('/settings/tenant')
    await field('Rows per page').fill('50')
    await app.settings.set('org.brand', 'Theirs', { tenant: 'acme', actor: 'eve' })
    await app.settings.set('org.invoices', 'other@bolt.example', { tenant: 'bolt' })
    await page.waitForFunction(
      () => document.querySelector<HTMLInputElement>('[id$="org.brand"]')?.value === 'Theirs',
    )
    await shows(t, () => row('org.brand').getAttribute('data-state'), 'overridden')
    t.equal(await field('Rows per page').inputValue(), '50', 'a draft stays')
    t.equal(await field('Invoices go to').inputValue(), '', 'nothing of another organisation')
    await openLive('/settings/preferences')
    await app.settings.set('user.theme', 'dark', { tenant: 'acme', actor: 'eve' })
    await row('user.theme').getByText('From Acme').waitFor()
    await shows(t, () => row('user.theme').getByRole('radio', { name: 'dark' }).isChecked(), true)
  })

  await t.test(
    'another organisation than before: both pages stop, and go on where it is the same again',
    async (t) => {
      for (const path of ['tenant', 'preferences']) {
        await openLive(`/settings/${path}`)
        if (path === 'tenant') await field('Brand').fill('For Acme')
        await enter(visited, 'bolt')
        app.settings.endStreams('vera')
        await bar.getByText('You are in Bolt now').waitFor()
        t.equal(await page.locator('[data-key]').count(), 0)
        await enter(visited, 'acme')
        app.settings.endStreams('vera')
        await page.locator('[data-key]').first().waitFor()
        if (path === 'tenant') await shows(t, () => field('Brand').inputValue(), 'For Acme')
        t.equal(writes.length, 0)
      }
      await openLive('/settings/preferences')
      await enter(visited, 'nowhere')
      app.settings.endStreams('vera')
      await bar.getByText('You have left this organisation').waitFor()
    },
  )
})

test('how it looks', async (t) => {
  const visited = await visit(t, options)
  if (!visited) return
  const { page, app, field } = visited
  const looks = [
    { size: phone, colorScheme: 'light' },
    { size: phone, colorScheme: 'dark', language: 'ar' },
    { size: { width: 1440, height: 900 }, colorScheme: 'light', language: 'ar' },
    { size: { width: 1440, height: 900 }, colorScheme: 'dark' },
  ] as const
  const overflow = () =>
    page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  for (const look of looks) {
    const name = JSON.stringify(look)
    await t.test(`axe finds nothing and nothing overflows: ${name}`, async (t) => {
      await openIn(visited, 'acme', '/settings/preferences', 'vera', look)
      await app.settings.set('user.theme', 'light', { tenant: 'acme' })
      await app.settings.set('org.brand', 'Acme Notes', { tenant: 'acme' })
      for (const path of ['preferences', 'tenant']) {
        await page.goto(`${visited.url}/settings/${path}`)
        await page.locator('[data-key]').first().waitFor()
        if (path === 'tenant') await field('Brand').fill('Changed')
        else await page.getByRole('radio', { name: 'dark' }).check()
        await page.locator('[data-state=unsaved], [data-state=overridden]').first().waitFor()
        t.same(await problems(page), [], path)
        t.equal(await overflow(), 0, path)
      }
    })
  }
  for (const language of ['de', 'fr', 'es', 'pt', 'ja', 'zh', 'ar']) {
    await t.test(`nothing overflows on a phone: ${language}`, async (t) => {
      await openIn(visited, 'acme', '/settings/tenant', 'vera', { size: phone, language })
      await shows(t, () => page.getByRole('heading', { level: 1 }).textContent(), 'Acme')
      await field('Brand').fill('Changed')
      await enter(visited, 'bolt')
      await page.locator('.fm-bar [type=submit]').click()
      await page.locator('.fm-say b').filter({ hasText: 'Bolt' }).waitFor()
      t.equal(await overflow(), 0)
    })
  }
})
