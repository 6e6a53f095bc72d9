/** What holds for the administration in both flavours: the prebuilt one and React's. */
import { SettingScope } from '@fastify-modular/settings'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import type { Visit } from './visit.js'

const { Application } = SettingScope

export async function adminScenarios(t: Test, visit: Visit): Promise<void> {
  const { page, app, open, row, writes, complaints } = visit
  const field = (name: string) => page.getByLabel(name, { exact: true })
  const save = page.getByRole('button', { name: 'Save changes' })
  const status = page.getByRole('status')
  const value = (key: string) => app.settings.getSettingAs(key, Application)

  await t.test(
    'UI-02: a page without an error on the console, a refused script or a Trusted Types report',
    async (t) => {
      await open('/settings')
      t.equal(new URL(page.url()).pathname, '/settings/manage')
      await page.reload()
      await row('mail.port').waitFor()
      t.same(complaints, [])
    },
  )

  await t.test(
    'UI-03: each of the 11 types has a control that its name labels, and no other has it',
    async (t) => {
      await open('/settings/manage?scope=application')
      const seen = new Set<string>()
      for (const scope of ['application', 'system']) {
        await page.getByRole('tab', { name: scope }).click()
        for (const each of await page.locator('[data-key]').all()) {
          seen.add((await each.getAttribute('data-type')) ?? '')
          const name = (await each.locator('label').first().textContent()) ?? ''
          t.equal(await field(name).count(), name === 'Theme' ? 2 : 1, name) // the header chooses a theme too
        }
      }
      t.equal(seen.size, 11)
    },
  )

  await t.test('UI-04: default, overridden and locked stand in words', async (t) => {
    await open('/settings/manage?scope=application')
    await app.settings.setSetting('app.title', 'Mine', Application)
    await page.reload()
    for (const [key, state, text] of [
      ['app.style', 'default', 'Default'],
      ['app.title', 'overridden', 'Overridden'],
      ['app.site', 'locked', 'Locked'],
    ] as const) {
      await row(key).waitFor()
      t.equal(await row(key).getAttribute('data-state'), state)
      t.ok(await row(key).getByText(text, { exact: true }).isVisible())
    }
  })

  await t.test('UI-05: a secret is in no response, no document and no element', async (t) => {
    await open('/settings/manage?scope=application')
    await app.settings.setSetting('app.api_token', 'hush-4711', Application)
    const bodies: Promise<string>[] = []
    const collect = (response: Awaited<ReturnType<Page['waitForResponse']>>) =>
      void bodies.push(response.text().catch(() => ''))
    page.on('response', collect)
    await page.reload()
    await row('app.api_token').waitFor()
    t.match(await field('API token').getAttribute('placeholder'), /\(set\)/)
    await field('API token').fill('hush-4712')
    await save.click()
    await page.getByText('Saved 1 setting.').waitFor()
    page.off('response', collect)
    t.equal(await field('API token').inputValue(), '')
    t.equal(await value('app.api_token'), 'hush-4712')
    const all = (await Promise.all(bodies)).join('') + (await page.content())
    t.notOk(all.includes('hush'))
  })

  await t.test('UI-06: a locked setting can be read and reached, not changed, and says why', async (t) => {
    await open('/settings/manage?scope=application')
    await field('Site name').focus()
    await page.keyboard.type('x')
    t.equal(await field('Site name').inputValue(), 'locked-site')
    const described = (await field('Site name').getAttribute('aria-describedby')) ?? ''
    t.match(await page.locator(`[id="${described}"]`).textContent(), /configuration of the server/)
    t.equal(await row('app.site').getByRole('button', { name: 'Reset' }).count(), 0)
  })

  await t.test(
    'UI-07: search narrows, says how many, and offers a way back when nothing is left',
    async (t) => {
      await open('/settings/manage?scope=system')
      const search = page.getByRole('searchbox')
      await search.fill('PREIS')
      await status.getByText('1 setting found').waitFor()
      t.equal(await page.locator('[data-key]:visible').count(), 1)
      await page.waitForURL(/q=PREIS/)
      await search.fill('title')
      await page.getByRole('button', { name: '1 more in Application' }).waitFor()
      await page.getByRole('button', { name: 'Clear search' }).click()
      t.equal(await page.locator('[data-key]:visible').count(), 4)
      await search.fill('@type:number @sensitive')
      t.equal(await page.locator('[data-key]:visible').count(), 0)
    },
  )

  await t.test('UI-08: @modified and the box show what is overridden, and nothing else', async (t) => {
    await open('/settings/manage?scope=application')
    await app.settings.setSetting('app.style', 'calm', Application) // equal to the default, and still overridden
    await page.goto(`${visit.url}/settings/manage?scope=application&only=modified`)
    await row('app.style').waitFor()
    t.equal(await page.locator('[data-key]:visible').count(), 1)
    await page.getByLabel('Only changed').uncheck()
    await page.getByRole('searchbox').fill('@modified')
    t.equal(await page.locator('[data-key]:visible').count(), 1)
    await page.getByRole('searchbox').fill('@locked')
    t.ok(await row('app.site').isVisible())
  })

  await t.test('UI-09: a number out of range is an error when its field is left', async (t) => {
    await open('/settings/manage?scope=system')
    await field('SMTP port').fill('99999')
    await field('SMTP port').blur()
    t.equal(await field('SMTP port').getAttribute('aria-invalid'), 'true')
    const ids = ((await field('SMTP port').getAttribute('aria-describedby')) ?? '').split(' ')
    t.match(await page.locator(`[id="${ids.at(-1)}"]`).textContent(), /from 1 to 65535/)
    await field('SMTP port').fill('25,5')
    t.equal(await field('SMTP port').getAttribute('aria-invalid'), null)
    await field('SMTP port').blur()
    await page.getByText('with a point instead of a comma').waitFor()
  })

  await t.test('UI-10: unsaved changes are counted; the old value entered again is none', async (t) => {
    await open('/settings/manage?scope=application')
    await field('Title').fill('Two')
    await field('Open registration').click()
    await page.getByText('2 unsaved changes').waitFor()
    t.ok(await row('app.title').getByText('was Fastify Modular').isVisible())
    await field('Open registration').click()
    await page.getByText('1 unsaved change', { exact: true }).waitFor()
    await row('app.title').getByRole('button', { name: 'Undo' }).click()
    t.equal(await save.count(), 0)
  })

  await t.test('UI-11: saving is one request with typed JSON', async (t) => {
    await open('/settings/manage?scope=application')
    await field('Features').fill('{"beta":true,"list":[1]}')
    await field('Open registration').click()
    await field('Rows per page').fill('5e1')
    await save.click()
    await page.getByText('Saved 3 settings.').waitFor()
    t.equal(writes.length, 1)
    t.match(writes[0]?.url(), /\/api\/settings\/bulk$/)
    const sent: { key: string; value: unknown }[] = writes[0]?.postDataJSON()
    t.same(Object.fromEntries(sent.map((entry) => [entry.key, entry.value])), {
      'app.features': { beta: true, list: [1] },
      'app.sign_up': true,
      'user.page_size': 50,
    })
  })

  await t.test(
    'UI-12: what the API refuses is listed with the focus on it, each line leads to its field',
    async (t) => {
      await open('/settings/manage?scope=application')
      await field('Title').fill('<script>')
      await field('Website').fill('nowhere')
      await page.getByRole('tab', { name: 'System' }).click()
      await field('SMTP port').fill('0')
      await save.click()
      const alert = page.getByRole('alert')
      await alert.waitFor()
      t.ok(await alert.evaluate((element) => element === document.activeElement))
      t.match(await page.title(), /^Error \(3\): /)
      t.equal(await alert.getByRole('link').count(), 3)
      await alert.getByRole('link', { name: /^Website/ }).click()
      await page.locator('[data-key="contact.website"] input:focus').waitFor()
      t.equal(await field('Website').inputValue(), 'nowhere')
      t.equal(await page.locator('[aria-invalid=true]').count(), 2)
      await page.getByRole('button', { name: 'Discard' }).click()
      t.notMatch(await page.title(), /Error/)
    },
  )

  await t.test('UI-13: a save is announced, and the row shows it at once', async (t) => {
    await open('/settings/manage?scope=application')
    await field('Style').selectOption('dense')
    await save.click()
    await status.getByText('Saved 1 setting.').waitFor()
    t.equal(await row('app.style').getAttribute('data-state'), 'overridden')
    t.match(await row('app.style').textContent(), /Changed by ada/)
    t.equal(await save.count(), 0)
  })

  await t.test('UI-14: resetting takes the stored value away and shows the default', async (t) => {
    await open('/settings/manage?scope=application')
    await app.settings.setSetting('app.title', 'Mine', Application)
    await app.settings.setSetting('app.api_token', 'hush', Application)
    await page.reload()
    await row('app.title').getByRole('button', { name: 'Reset' }).click()
    await status.getByText('Title was reset.').waitFor()
    t.equal(await field('Title').inputValue(), 'Fastify Modular')
    t.equal(writes.at(-1)?.method(), 'DELETE')
    t.equal(await value('app.title'), null)
    await row('app.api_token').getByRole('button', { name: 'Clear' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Clear' }).click()
    await status.getByText('API token was reset.').waitFor()
    t.match(await field('API token').getAttribute('placeholder'), /Not set/)
  })

  await t.test('UI-16, UI-17: Enter saves, and Ctrl+S saves', async (t) => {
    await open('/settings/manage?scope=application')
    await field('Title').fill('By Enter')
    await page.keyboard.press('Enter')
    await page.getByText('Saved 1 setting.').waitFor()
    t.equal(await value('app.title'), 'By Enter')
    await field('Banner').fill('By Ctrl+S')
    await page.keyboard.press('Control+s')
    await row('app.banner').and(page.locator('[data-state=overridden]')).waitFor()
    t.equal(await value('app.banner'), 'By Ctrl+S')
  })

  await t.test(
    'UI-20: what somebody else has changed is shown beside what was entered; keeping mine saves it',
    async (t) => {
      await open('/settings/manage?scope=application')
      await field('Title').fill('Mine')
      await field('Style').selectOption('dense')
      await app.settings.setSetting('app.title', 'Theirs', Application, undefined, { actor: 'Grace' })
      await save.click()
      const conflict = row('app.title').getByRole('group')
      await conflict.waitFor()
      t.match(await conflict.textContent(), /Changed by Grace, .*, to Theirs\./)
      t.equal(await field('Title').inputValue(), 'Mine')
      t.equal(await value('app.style'), null, 'all or nothing')
      await conflict.getByRole('button', { name: 'Keep mine' }).click()
      await save.click()
      await page.getByText('Saved 2 settings.').waitFor()
      t.equal(await value('app.title'), 'Mine')
    },
  )

  await t.test('UI-38: two clicks on Save send one request', async (t) => {
    await open('/settings/manage?scope=application')
    await field('Title').fill('Once')
    await save.dblclick()
    await page.getByText('Saved 1 setting.').waitFor()
    t.equal(writes.length, 1)
  })
}
