/** A day with the administration: leaving and coming back, failures, rights, values that are hard to enter. */
import type { Module } from '@fastify-modular/core'
import { shows } from '@fastify-modular/test-support/shows'
import { memoryStore, SettingScope } from '@fastify-modular/settings'
import { test } from 'tap'
import { definitions } from '../support/definitions.js'
import { startHost } from '../support/host.js'
import { visit } from '../support/visit.js'

const { System } = SettingScope

test('a day with the administration', async (t) => {
  const visited = await visit(t)
  if (!visited) return
  const { page, app, open, reload, row, browser, url, warnings, writes, field, status, bar, save } = visited

  await t.test('UI-01: strangers sign in first, and come back', async (t) => {
    await page.goto(`${url}/settings/manage`)
    t.equal(page.url(), `${url}/login?returnTo=%2Fsettings%2Fmanage`)
    await page.goto(`${page.url()}&as=ada`)
    t.equal(page.url(), `${url}/settings/manage`)
  })

  await t.test('UI-15: the browser asks before it leaves, only while something is unsaved', async (t) => {
    await open('/settings/manage?only=application')
    await page.reload()
    t.same(warnings, [])
    await field('Title').click()
    await page.keyboard.type('Draft') // browsers ask only those who have touched the page
    await page.reload()
    t.same(warnings, ['beforeunload'])
    await row('app.title').waitFor()
    await shows(t, () => field('Title').inputValue(), 'Fastify Modular')
  })

  await t.test(
    'UI-18: without an answer everything that was entered stays, and can be sent again',
    async (t) => {
      await open('/settings/manage?only=application')
      await field('Title').fill('Patience')
      await page.route('**/api/settings/bulk', (route) => route.abort())
      await save.click()
      await bar.getByText('does not answer').waitFor()
      await shows(t, () => field('Title').inputValue(), 'Patience')
      await page.unroute('**/api/settings/bulk')
      await page.getByRole('button', { name: 'Save again' }).click()
      await status.getByText('1 setting saved').waitFor()
      t.equal(app.settings.get(definitions.title), 'Patience')
    },
  )

  await t.test('a failure of the server names the request, for the log', async (t) => {
    await open('/settings/manage?only=application')
    await field('Title').fill('Broken')
    await page.route('**/api/settings/bulk', (route) =>
      route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"requestId":"req-77"}' }),
    )
    await save.click()
    await bar.getByText('Reference req-77').waitFor()
    await shows(t, () => field('Title').inputValue(), 'Broken')
    await page.unroute('**/api/settings/bulk')
  })

  await t.test(
    'UI-19: signed out in the middle of it: drafts stay, sign in elsewhere, it goes on by itself',
    async (t) => {
      await open('/settings/manage?only=application')
      await field('Title').fill('Still here')
      await browser.clearCookies()
      await save.click()
      await bar.getByText('Sign in again to save').waitFor()
      const link = bar.getByRole('link', { name: 'Sign in…' })
      await shows(t, () => link.getAttribute('target'), '_blank')
      await shows(t, () => bar.getByRole('button', { name: /^Save/ }).count(), 0, 'nothing that would fail')
      await shows(t, () => field('Title').inputValue(), 'Still here')
      await browser.addCookies([{ name: 'user', value: 'ada', url }])
      await page.evaluate(() => dispatchEvent(new Event('focus'))) // coming back from the other tab
      await status.getByText('1 setting saved').waitFor()
      t.equal(app.settings.get(definitions.title), 'Still here')
    },
  )

  await t.test('signed in again: what was changed since, or was never saved, waits for Save', async (t) => {
    const signUp = page.getByRole('switch', { name: 'Open registration' })
    const comeBack = async () => {
      await bar.getByText('Sign in again to save').waitFor()
      t.equal(await bar.getByText('as soon as you are back').count(), 0)
      await browser.addCookies([{ name: 'user', value: 'ada', url }])
      await page.evaluate(() => dispatchEvent(new Event('focus')))
      await save.waitFor()
      t.equal(await save.textContent().then((text) => text?.startsWith('Save')), true)
      t.equal(writes.length, 1)
    }
    await open('/settings/manage?only=application')
    await field('Title').fill('Sent')
    await browser.clearCookies()
    await save.click()
    await bar.getByText('as soon as you are back').waitFor()
    await signUp.check()
    await comeBack()

    await open('/settings/manage?only=application')
    await field('Title').fill('Sent')
    await browser.clearCookies()
    await save.click()
    await bar.getByText('as soon as you are back').waitFor()
    await browser.addCookies([{ name: 'user', value: 'ada', url }])
    await signUp.evaluate((element: HTMLElement) => {
      element.click()
      dispatchEvent(new Event('focus')) // within the same moment
    })
    await save.waitFor()
    t.equal(writes.length, 1)

    await open('/settings/manage?only=application')
    await app.settings.set('app.title', 'Stored')
    await reload()
    await signUp.check()
    await browser.clearCookies()
    await row('app.title').getByRole('button', { name: 'Reset Title' }).click()
    await comeBack()
    t.equal(app.settings.get(definitions.signUp), false)
  })

  await t.test('a permission that is gone makes the page read-only and keeps what was entered', async (t) => {
    await open('/settings/manage?only=application')
    await field('Title').fill('Too late')
    await browser.addCookies([{ name: 'user', value: 'vera', url }])
    await save.click()
    await bar.getByText('You may no longer change these settings').waitFor()
    await shows(t, () => bar.getByRole('button', { name: /^Save/ }).count(), 0, 'nothing that would fail')
    await shows(t, () => field('Title').inputValue(), 'Too late')
    await shows(t, () => field('Title').evaluate((input: HTMLInputElement) => input.readOnly), true)
  })

  await t.test(
    'UI-21: a caller who may not change anything sees everything, and no control that could',
    async (t) => {
      await open('/settings/manage?only=application', 'vera')
      await page
        .getByText('You can view these settings. Changing them needs the permission “Settings.Update”.')
        .waitFor()
      const editable = await page
        .locator('[data-key] :is(input, select, textarea)')
        .evaluateAll((all) =>
          all
            .filter((each) => !each.matches('[readonly], [disabled], [aria-readonly=true]'))
            .map((each) => each.id),
        )
      t.same(editable, [])
      await field('Open registration').click()
      t.notOk(await field('Open registration').isChecked())
      t.equal(await bar.count(), 0)
      t.equal(await page.getByRole('button', { name: /^(Reset|Replace|More$)/ }).count(), 0)
      await row('app.title').getByRole('button', { name: 'More for Title' }).click()
      await shows(t, () => page.getByRole('menuitem').allTextContents(), ['Copy link', 'Copy key'])
      await page.keyboard.press('Escape')
    },
  )

  await t.test('UI-22: an editor changes Application settings and reads those of the System', async (t) => {
    await open('/settings/manage', 'eve')
    t.notOk(await field('Title').evaluate((input: HTMLInputElement) => input.readOnly))
    await shows(t, () => field('Maintenance mode').getAttribute('aria-readonly'), 'true')
    await page.getByRole('link', { name: 'Mail' }).click()
    await page.getByText('can be changed by administrators only').waitFor()
    await shows(t, () => field('SMTP port').evaluate((input: HTMLInputElement) => input.readOnly), true)
  })

  await t.test(
    'UI-26: groups and menus by keyboard: arrow keys, Home, End, Escape; the back button',
    async (t) => {
      await open('/settings/manage')
      const focused = () => page.evaluate(() => document.activeElement?.textContent)
      await page.getByRole('link', { name: 'Contact' }).press('Enter')
      await page.getByRole('heading', { level: 2, name: 'Contact' }).waitFor()
      await shows(t, () => page.getByRole('link', { name: 'Contact' }).getAttribute('aria-current'), 'page')
      await shows(t, () => page.locator('.fm-nav [aria-current]').count(), 1)
      await page.goBack()
      await page.getByRole('heading', { level: 2, name: 'General' }).waitFor()
      const more = row('app.title').getByRole('button', { name: 'More for Title' })
      await more.focus()
      await page.keyboard.press('Enter')
      await shows(t, () => more.getAttribute('aria-expanded'), 'true')
      for (const [key, wanted] of [
        ['ArrowDown', 'Copy link'],
        ['End', 'Copy key'],
        ['ArrowDown', 'History'],
        ['ArrowUp', 'Copy key'],
        ['Home', 'History'],
      ] as const) {
        await page.keyboard.press(key)
        await shows(t, focused, wanted, key)
      }
      await page.keyboard.press('Escape')
      await page.getByRole('menu').waitFor({ state: 'detached' })
      await more.and(page.locator(':focus')).waitFor() // the focus returns
    },
  )

  await t.test('UI-31: broken JSON says where; Format tidies up; Tab leaves the field', async (t) => {
    await open('/settings/manage?only=application')
    await field('Features').fill('{\n  "a": 1,\n}')
    await row('app.features').getByText('Line 3: take the comma before it away.').waitFor() // while it still has the focus
    await shows(t, () => row('app.features').locator('li.is-bad').count(), 1)
    await row('app.features').getByRole('button', { name: 'Go to line 3' }).click()
    await shows(t, () => field('Features').evaluate((area: HTMLTextAreaElement) => area.selectionStart), 12)
    await page.keyboard.press('Tab')
    t.not(await page.evaluate(() => document.activeElement?.tagName), 'TEXTAREA')
    await row('app.features').getByText('Line 3: take the comma before it away.').waitFor()
    await field('Features').fill('{"a":[1]}')
    await row('app.features').getByRole('button', { name: 'Format' }).click()
    await shows(t, () => field('Features').inputValue(), '{\n  "a": [\n    1\n  ]\n}')
  })

  await t.test('UI-33: a stored value that is not allowed any more is flagged', async () => {
    await open('/settings/manage?only=application')
    await page.route('**/stream', (route) => route.abort()) // it has what is really stored
    await page.route('**/api/settings', async (route) => {
      const response = await route.fetch()
      const list = (await response.json()).map((value: { key: string }) =>
        value.key === 'app.style'
          ? { ...value, isOverridden: true, source: 'default', value: 'baroque' }
          : value,
      )
      await route.fulfill({ response, json: list })
    })
    await page.reload()
    await row('app.style').getByText('is not allowed any more').waitFor()
    await row('app.style')
      .getByRole('radio', { name: 'baroque (no longer allowed)', checked: true })
      .waitFor()
    await page.unrouteAll()
  })

  await t.test(
    'UI-33: what was stored under another definition is ignored, and the page says so',
    async (t) => {
      const store = memoryStore()
      const older = await startHost(t, { settings: { store } })
      await older.app.settings.set('app.style', 'dense')
      const style = { ...definitions.style, allowedValues: ['calm', 'wild'] }
      const newer = await startHost(t, { settings: { store, definitions: [style], overrides: {} } })
      await browser.addCookies([{ name: 'user', value: 'ada', url: newer.url }])
      await page.goto(`${newer.url}/settings/manage`)
      await row('app.style').getByText('is not allowed any more; the default applies').waitFor()
      await shows(t, () => row('app.style').getByRole('radio', { name: 'calm' }).isChecked(), true)
      await row('app.style').getByRole('button', { name: 'Reset' }).click()
      await status.getByText('Style was reset.').waitFor()
    },
  )

  await t.test(
    'a rule about several settings is told, also where it names one that was not touched',
    async (t) => {
      const needsHost: Module = {
        name: 'mail',
        settings: (builder) =>
          builder.rule({ host: definitions.host, port: definitions.port }, ({ host, port }) =>
            host === null && port !== 587 ? 'A port needs a host.' : undefined,
          ),
      }
      const host = await startHost(t, { modules: [needsHost] })
      await browser.addCookies([{ name: 'user', value: 'ada', url: host.url }])
      await page.goto(`${host.url}/settings/manage?group=mail`)
      await field('SMTP port').fill('25')
      await save.click()
      await page.getByText('A port needs a host.').first().waitFor()
      await shows(t, () => field('SMTP port').inputValue(), '25')
      await field('SMTP host').fill('smtp.example.com')
      await save.click()
      await status.getByText('2 settings saved').waitFor()
    },
  )

  await t.test('UI-32: a date and time keeps its instant in another time zone', async (t) => {
    const devtools = await browser.newCDPSession(page)
    await devtools.send('Emulation.setTimezoneOverride', { timezoneId: 'America/New_York' })
    await open('/settings/manage?only=application')
    await app.settings.set('app.expires_at', '2030-07-01T12:00:00+02:00')
    await page.reload()
    await shows(t, () => field('Licence expires').inputValue(), '2030-07-01T06:00')
    await shows(
      t,
      () => row('app.expires_at').textContent(),
      /Mon, Jul 1, 2030, 6:00\sAM.*America\/New_York, UTC-04:00 · in \d+ years/,
    )
    t.equal(
      await row('app.expires_at').locator('.fm-note').getAttribute('title'),
      '2030-07-01T12:00:00+02:00',
    )
    await field('Licence expires').fill('2030-01-01T06:30')
    await save.click()
    await status.getByText('1 setting saved').waitFor()
    t.equal(app.settings.get(definitions.expires), '2030-01-01T06:30:00-05:00')
    await devtools.detach()
  })

  await t.test('a list that cannot be loaded says so and tries again', async (t) => {
    await open('/settings/manage')
    await page.route('**/api/settings', (route) => route.abort())
    await page.reload()
    await page.getByRole('alert').getByText('could not be loaded').waitFor()
    t.notMatch(await page.getByRole('alert').textContent(), /still here/, 'nothing was entered')
    await page.unroute('**/api/settings')
    await page.getByRole('button', { name: 'Try again' }).click()
    await row('app.title').waitFor()
    t.equal(app.settings.get(definitions.port), 587)
    t.equal(await app.settings.contract.getSetting('mail.port', System), null)
  })
})
