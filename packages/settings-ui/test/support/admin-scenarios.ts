/** What holds for the administration in both flavours: the prebuilt one and React's. */
import { SettingScope } from '@fastify-modular/settings'
import { shows } from '@fastify-modular/test-support/shows'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import type { Visit } from './visit.js'

const { Application } = SettingScope

export async function adminScenarios(t: Test, visit: Visit): Promise<void> {
  const { page, app, open, row, writes, complaints, field, status, save } = visit
  const choose = (key: string, name: string) => row(key).getByRole('radio', { name }).check()
  const value = (key: string) => app.settings.contract.getSettingAs(key, Application)

  await t.test(
    'UI-02: a page without an error on the console, a refused script or a Trusted Types report',
    async (t) => {
      await open('/settings')
      t.equal(new URL(page.url()).pathname, '/settings/manage')
      await page.reload()
      await row('app.title').waitFor()
      t.same(complaints, [])
    },
  )

  await t.test(
    'UI-03: each of the 11 types has a control that its name labels, and no other has it',
    async (t) => {
      const seen = new Set<string>()
      for (const scope of ['application', 'system']) {
        await open(`/settings/manage?only=${scope}`)
        for (const each of await page.locator('[data-key]').all()) {
          seen.add((await each.getAttribute('data-type')) ?? '')
          const name = (await each.locator('.fm-name > :first-child').textContent()) ?? ''
          await shows(t, () => field(name).count(), name === 'Theme' ? 2 : 1, name) // the header chooses a theme too
        }
      }
      t.equal(seen.size, 11)
    },
  )

  await t.test('UI-04: overridden and locked stand in words; a default is not news', async (t) => {
    await open('/settings/manage?only=application')
    await app.settings.set('app.title', 'Mine')
    await page.reload()
    for (const [key, state, text] of [
      ['app.style', 'default', ''],
      ['app.title', 'overridden', 'Changed from the default.'],
      ['app.site', 'locked', 'Locked'],
    ] as const) {
      await row(key).waitFor()
      await shows(t, () => row(key).getAttribute('data-state'), state)
      await shows(t, () => page.locator(`[id="fm-${key}-s"]`).textContent(), text)
    }
    t.equal(await row('app.style').locator('.fm-pill').count(), 0)
    await row('app.title').getByRole('button', { name: 'Reset Title' }).waitFor() // one press takes it back
    await shows(t, () => row('app.site').getByText('Locked', { exact: true }).isVisible(), true)
  })

  await t.test('UI-05: a secret is in no response, no document and no element', async (t) => {
    await open('/settings/manage?only=application')
    await app.settings.set('app.api_token', 'hush-4711')
    const bodies: Promise<string>[] = []
    const collect = (response: Awaited<ReturnType<Page['waitForResponse']>>) => {
      // The stream has no end; its own tests read it.
      if (!response.url().endsWith('/stream')) bodies.push(response.text().catch(() => ''))
    }
    page.on('response', collect)
    await page.reload()
    await row('app.api_token').waitFor()
    await shows(t, () => field('API token').inputValue(), /^•{4} since /)
    await row('app.api_token').getByRole('button', { name: 'Replace' }).click()
    await field('API token').and(page.locator(':focus')).waitFor()
    await field('API token').fill('hush-4712')
    await row('app.api_token').getByRole('button', { name: 'Show API token' }).click()
    await shows(t, () => field('API token').getAttribute('type'), 'text')
    await save.click()
    await status.getByText('1 setting saved').waitFor()
    page.off('response', collect)
    await shows(t, () => field('API token').inputValue(), /^•{4} since /)
    t.equal(await value('app.api_token'), 'hush-4712')
    const all = (await Promise.all(bodies)).join('') + (await page.content())
    t.notOk(all.includes('hush'))
    await row('app.api_token').getByRole('button', { name: 'Replace' }).click()
    await shows(t, () => field('API token').getAttribute('type'), 'password', 'the next one is covered again')
  })

  await t.test('UI-06: a locked setting can be read and reached, not changed, and says why', async (t) => {
    await open('/settings/manage?only=application')
    await field('Site name').focus()
    await page.keyboard.type('x')
    t.equal(await field('Site name').inputValue(), 'locked-site')
    // Where it is fixed comes by a request of its own.
    await row('app.site').getByText('Set on the server by overrides').waitFor({ state: 'attached' })
    const described = ((await field('Site name').getAttribute('aria-describedby')) ?? '').split(' ')
    const texts = await Promise.all(described.map((id) => page.locator(`[id="${id}"]`).textContent()))
    t.match(texts.join(' '), /Set on the server by overrides\. It can be changed there only\./)
    t.equal(await row('app.site').getByRole('button', { name: 'Reset' }).count(), 0)
  })

  await t.test(
    'UI-07: search narrows, says how many, and offers a way back when nothing is left',
    async (t) => {
      await open('/settings/manage')
      const search = page.getByRole('searchbox')
      await search.fill('PREIS')
      await status.getByText('1 setting found').waitFor()
      await shows(t, () => page.locator('[data-key]:visible').count(), 1)
      await page.waitForURL(/q=PREIS/)
      await search.fill('smtp')
      await shows(t, () => page.locator('[data-key]:visible').count(), 3, 'in whatever group and scope')
      await search.fill('.*(?')
      await shows(
        t,
        () => page.locator('[data-key]:visible').count(),
        0,
        'a search without a word finds nothing',
      )
      await search.fill('zebra')
      await page.locator('.fm-empty').getByRole('button', { name: 'Clear search' }).click()
      await shows(t, () => page.locator('[data-key]:visible').count(), 4, 'the group that was open')
    },
  )

  await t.test('UI-08: the filter shows what is overridden, and nothing else', async (t) => {
    await open('/settings/manage?only=application')
    await app.settings.set('app.style', 'calm') // equal to the default, and still overridden
    await page.goto(`${visit.url}/settings/manage?only=application,modified`)
    await row('app.style').waitFor()
    await shows(t, () => page.locator('[data-key]:visible').count(), 1)
    await page.getByRole('button', { name: 'Remove the filter Changed' }).click()
    await page.getByRole('searchbox').and(page.locator(':focus')).waitFor()
  })

  await t.test('UI-09: a number out of range is an error when its field is left', async (t) => {
    await open('/settings/manage?group=mail')
    await field('SMTP port').fill('99999')
    await field('SMTP port').blur()
    await shows(t, () => field('SMTP port').getAttribute('aria-invalid'), 'true')
    const ids = ((await field('SMTP port').getAttribute('aria-describedby')) ?? '').split(' ')
    await shows(t, () => page.locator(`[id="${ids.at(-1)}"]`).textContent(), /from 1 to 65535/)
    await field('SMTP port').fill('25,5')
    await shows(t, () => field('SMTP port').getAttribute('aria-invalid'), null)
    await field('SMTP port').blur()
    await page.getByText('with a point instead of a comma').waitFor()
  })

  await t.test('UI-10: unsaved changes are counted; the old value entered again is none', async (t) => {
    await open('/settings/manage?only=application')
    await field('Title').fill('Two')
    await field('Open registration').click()
    await page.getByText('2 unsaved changes').waitFor()
    await shows(t, () => row('app.title').getByText('was Fastify Modular').isVisible(), true)
    await field('Open registration').click()
    await page.getByText('1 unsaved change', { exact: true }).waitFor()
    await row('app.title').getByRole('button', { name: 'Undo' }).click()
    await shows(t, () => save.count(), 0)
  })

  await t.test('UI-11: saving is one request with typed JSON', async (t) => {
    await open('/settings/manage?only=application')
    await field('Features').fill('{"beta":true,"list":[1]}')
    await field('Open registration').click()
    await field('Rows per page').fill('5e1')
    await save.click()
    await status.getByText('3 settings saved').waitFor()
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
    'UI-12: a failed save leads to the first wrong field, and the bar lists them all at once, across groups',
    async (t) => {
      const group = (name: string) =>
        page.getByRole('navigation', { name: 'Groups' }).getByRole('link', { name })
      const attention = page.getByRole('button', { name: '3 need attention' })
      await open('/settings/manage?group=contact')
      await field('Website').fill('nowhere')
      await group('Mail').click()
      await field('SMTP port').fill('0')
      await group('General').click()
      await field('Title').fill('<script>')
      await field('Open registration').click()
      await save.click()
      await page.locator('[data-key="app.title"] input:focus').waitFor()
      t.equal(writes.length, 0)
      await shows(t, () => page.title(), /^Error \(3\): /)
      await attention.click()
      const list = page.locator('.fm-menu')
      await shows(t, () => list.getByRole('link').count(), 3)
      await list.getByRole('link', { name: /^Website/ }).click()
      await page.locator('[data-key="contact.website"] input:focus').waitFor()
      await shows(t, () => field('Website').inputValue(), 'nowhere')
      await page.getByRole('button', { name: 'Next' }).click()
      await page.locator('[data-key="mail.port"] input:focus').waitFor()
      t.match(await group('Mail').ariaSnapshot(), /1 needs attention/)
      await page.getByRole('button', { name: 'Discard' }).click()
      await shows(t, () => page.title(), /^(?!.*Error)/)
    },
  )

  await t.test('UI-12: what the API refuses is shown at its field in the same way', async (t) => {
    await open('/settings/manage?group=general')
    await page.route('**/api/settings/bulk', (route) =>
      route.fulfill({
        status: 422,
        contentType: 'application/problem+json',
        body: JSON.stringify({ errors: { 'app.title': ['Enter another title.'] } }),
      }),
    )
    await field('Title').fill('Refused')
    await save.click()
    await row('app.title').getByText('Enter another title.').waitFor()
    await page.locator('[data-key="app.title"] input:focus').waitFor()
    await shows(t, () => field('Title').inputValue(), 'Refused')
    await page.unroute('**/api/settings/bulk')
  })

  await t.test('UI-13: a save is announced, and the row shows it at once', async (t) => {
    await open('/settings/manage?only=application')
    await choose('app.style', 'dense')
    await save.click()
    await status.getByText('1 setting saved').waitFor()
    await shows(t, () => row('app.style').getAttribute('data-state'), 'overridden')
    await shows(t, () => save.count(), 0)
    await row('app.style').getByRole('button', { name: 'More for Style' }).click()
    await shows(t, () => page.getByRole('menu').textContent(), /Changed by ada/)
    await page.keyboard.press('Escape')
  })

  await t.test('UI-14: resetting takes the stored value away and shows the default', async (t) => {
    await open('/settings/manage?only=application')
    await app.settings.set('app.title', 'Mine')
    await app.settings.set('app.api_token', 'hush')
    await page.reload()
    await row('app.title').getByRole('button', { name: 'Reset' }).click()
    await status.getByText('Title was reset.').waitFor()
    await shows(t, () => field('Title').inputValue(), 'Fastify Modular')
    t.equal(writes.at(-1)?.method(), 'DELETE')
    t.equal(await value('app.title'), null)
    await row('app.api_token').getByRole('button', { name: 'Clear' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Clear' }).click()
    await status.getByText('API token was reset.').waitFor()
    await shows(t, () => field('API token').getAttribute('placeholder'), /Not set/)
  })

  await t.test('UI-16, UI-17: Enter saves, and Ctrl+S saves', async (t) => {
    await open('/settings/manage?only=application')
    await field('Title').fill('By Enter')
    await page.keyboard.press('Enter')
    await status.getByText('1 setting saved').waitFor()
    t.equal(await value('app.title'), 'By Enter')
    await field('Banner').fill('By Ctrl+S')
    await page.keyboard.press('Control+s')
    await row('app.banner').and(page.locator('[data-state=overridden]')).waitFor()
    t.equal(await value('app.banner'), 'By Ctrl+S')
  })

  await t.test(
    'UI-20: what somebody else has changed is shown beside what was entered; keeping mine saves it',
    async (t) => {
      await open('/settings/manage?only=application')
      await field('Title').fill('Mine')
      await choose('app.style', 'dense')
      await app.settings.set('app.title', 'Theirs', { actor: 'Grace' })
      await save.click()
      const conflict = row('app.title').getByRole('group', {
        name: 'Grace changed this while you were editing.',
      })
      await conflict.waitFor()
      await shows(t, () => conflict.textContent(), /Grace changed this .*Theirs/)
      await shows(t, () => field('Title').inputValue(), 'Mine')
      t.equal(await value('app.style'), null, 'all or nothing')
      await conflict.getByRole('button', { name: 'Keep mine' }).click()
      await save.click()
      await status.getByText('2 settings saved').waitFor()
      t.equal(await value('app.title'), 'Mine')
    },
  )

  await t.test('UI-38: two clicks on Save send one request', async (t) => {
    await open('/settings/manage?only=application')
    await field('Title').fill('Once')
    await save.dblclick()
    await status.getByText('1 setting saved').waitFor()
    t.equal(writes.length, 1)
  })
}
