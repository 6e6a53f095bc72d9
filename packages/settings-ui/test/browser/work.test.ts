/** A day with the pages: leaving and coming back, failures, history, files, links, other tabs. */
import { writeFile } from 'node:fs/promises'
import { SettingScope } from '@fastify-modular/settings'
import { test } from 'tap'
import { definitions } from '../support/definitions.js'
import { visit } from '../support/visit.js'

const { Application, System } = SettingScope

test('a day with the administration', { timeout: 150_000 }, async (t) => {
  const visited = await visit(t)
  if (!visited) return
  const { page, app, open, row, browser, url, warnings, writes } = visited
  const field = (name: string) => page.getByLabel(name, { exact: true })
  const save = page.getByRole('button', { name: /Save changes|Try again/ })
  const status = page.getByRole('status')
  const bar = page.getByTestId('save-bar')

  await t.test('UI-01: strangers sign in first, and come back', async (t) => {
    await page.goto(`${url}/settings/manage`)
    t.equal(page.url(), `${url}/login?returnTo=%2Fsettings%2Fmanage`)
    await page.goto(`${page.url()}&as=ada`)
    t.equal(page.url(), `${url}/settings/manage`)
  })

  await t.test('UI-15: the browser asks before it leaves, only while something is unsaved', async (t) => {
    await open('/settings/manage?scope=application')
    await page.reload()
    t.same(warnings, [])
    await field('Title').click()
    await page.keyboard.type('Draft') // browsers ask only those who have touched the page
    await page.reload()
    t.same(warnings, ['beforeunload'])
    await row('app.title').waitFor()
    t.equal(await field('Title').inputValue(), 'Fastify Modular')
  })

  await t.test(
    'UI-18: without an answer everything that was entered stays, and can be sent again',
    async (t) => {
      await open('/settings/manage?scope=application')
      await field('Title').fill('Patience')
      await page.route('**/api/settings/bulk', (route) => route.abort())
      await save.click()
      await bar.getByRole('alert').getByText('does not answer').waitFor()
      t.equal(await field('Title').inputValue(), 'Patience')
      await page.unroute('**/api/settings/bulk')
      await page.getByRole('button', { name: 'Try again' }).click()
      await status.getByText('Saved 1 setting.').waitFor()
      t.equal(app.settings.get(definitions.title), 'Patience')
    },
  )

  await t.test('a failure of the server names the request, for the log', async (t) => {
    await open('/settings/manage?scope=application')
    await field('Title').fill('Broken')
    await page.route('**/api/settings/bulk', (route) =>
      route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"requestId":"req-77"}' }),
    )
    await save.click()
    await bar.getByText('Request req-77').waitFor()
    t.equal(await field('Title').inputValue(), 'Broken')
    await page.unroute('**/api/settings/bulk')
  })

  await t.test('UI-19: signed out in the middle of it: drafts stay, sign in elsewhere, go on', async (t) => {
    await open('/settings/manage?scope=application')
    await field('Title').fill('Still here')
    await browser.clearCookies()
    await save.click()
    const dialog = page.getByRole('dialog', { name: 'You were signed out' })
    await dialog.waitFor()
    t.equal(await dialog.getByRole('link').getAttribute('target'), '_blank')
    await browser.addCookies([{ name: 'user', value: 'ada', url }])
    await dialog.getByRole('button', { name: 'Try again' }).click()
    await status.getByText('Saved 1 setting.').waitFor()
    t.equal(app.settings.get(definitions.title), 'Still here')
  })

  await t.test('a permission that is gone makes the page read-only and keeps what was entered', async (t) => {
    await open('/settings/manage?scope=application')
    await field('Title').fill('Too late')
    await browser.addCookies([{ name: 'user', value: 'vera', url }])
    await save.click()
    await bar.getByText('You may not change these settings').waitFor()
    t.equal(await field('Title').inputValue(), 'Too late')
    t.ok(await field('Title').evaluate((input: HTMLInputElement) => input.readOnly))
  })

  await t.test('UI-21: who may not change anything sees everything, and no control that could', async (t) => {
    await open('/settings/manage?scope=application', 'vera')
    t.ok(await page.getByText('You can look at these settings, but not change them.').isVisible())
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
    t.equal(await page.getByRole('button', { name: /^(Reset|History|Import)/ }).count(), 0)
  })

  await t.test('UI-22: an editor changes Application settings and reads those of the System', async (t) => {
    await open('/settings/manage', 'eve')
    t.equal(await page.getByRole('tab', { selected: true }).textContent(), 'Application')
    t.notOk(await field('Title').evaluate((input: HTMLInputElement) => input.readOnly))
    await page.getByRole('tab', { name: 'System' }).click()
    t.ok(await page.getByText('can be changed by administrators only').isVisible())
    t.ok(await field('SMTP port').evaluate((input: HTMLInputElement) => input.readOnly))
  })

  await t.test('UI-26: tabs by arrow keys, Home and End', async (t) => {
    await open('/settings/manage?scope=system')
    const selected = () => page.getByRole('tab', { selected: true }).textContent()
    await page.getByRole('tab', { name: 'System' }).focus()
    for (const [key, wanted] of [
      ['ArrowRight', 'Application'],
      ['ArrowRight', 'System'],
      ['End', 'Application'],
      ['Home', 'System'],
    ] as const) {
      await page.keyboard.press(key)
      t.equal(await selected(), wanted, key)
      t.equal(await page.evaluate(() => document.activeElement?.textContent), wanted)
    }
    await page.goBack()
    await page.getByRole('tab', { name: 'Application', selected: true }).waitFor()
  })

  await t.test('UI-31: broken JSON says where; Format tidies up; Tab leaves the field', async (t) => {
    await open('/settings/manage?scope=application')
    await field('Features').fill('{\n  "a": 1,\n}')
    await page.keyboard.press('Tab')
    t.not(await page.evaluate(() => document.activeElement?.tagName), 'TEXTAREA')
    await row('app.features').getByText('line 3, column 1 (3:1)').waitFor()
    await field('Features').fill('{"a":[1]}')
    await row('app.features').getByRole('button', { name: 'Format' }).click()
    t.equal(await field('Features').inputValue(), '{\n  "a": [\n    1\n  ]\n}')
    await field('Features').fill('{"b":2}')
    await page.keyboard.press('Control+Shift+F')
    t.equal(await field('Features').inputValue(), '{\n  "b": 2\n}')
  })

  await t.test('UI-33: a stored value that is not allowed any more is flagged', async (t) => {
    await open('/settings/manage?scope=application')
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
    t.equal(await field('Style').locator('option:checked').textContent(), 'baroque (no longer allowed)')
    await page.unroute('**/api/settings')
  })

  await t.test('UI-32: a date and time keeps its instant in another time zone', async (t) => {
    const devtools = await browser.newCDPSession(page)
    await devtools.send('Emulation.setTimezoneOverride', { timezoneId: 'America/New_York' })
    await open('/settings/manage?scope=application')
    await app.settings.setSetting('app.expires_at', '2030-07-01T12:00:00+02:00', Application)
    await page.reload()
    t.equal(await field('Licence expires').inputValue(), '2030-07-01T06:00')
    t.match(
      await row('app.expires_at').textContent(),
      /America\/New_York, UTC-04:00.*2030-07-01T12:00:00\+02:00/,
    )
    await field('Licence expires').fill('2030-01-01T06:30')
    await save.click()
    await status.getByText('Saved 1 setting.').waitFor()
    t.equal(app.settings.get(definitions.expires), '2030-01-01T06:30:00-05:00')
    await devtools.detach()
  })

  await t.test('history tells who changed what, and restores an older value', async (t) => {
    await open('/settings/manage?scope=application')
    await app.settings.setSetting('app.title', 'First', Application, undefined, { actor: 'Grace' })
    await app.settings.setSetting('app.title', 'Second', Application, undefined, { actor: 'Linus' })
    await page.reload()
    await row('app.title').getByRole('button', { name: 'History' }).click()
    const dialog = page.getByRole('dialog', { name: 'History of Title' })
    await dialog.getByText('Linus set to Second').waitFor()
    await dialog
      .getByRole('listitem')
      .filter({ hasText: 'Grace set to First' })
      .getByRole('button')
      .first()
      .click()
    await status.getByText('Title has the older value again.').waitFor()
    t.equal(await field('Title').inputValue(), 'First')
    t.equal(app.settings.get(definitions.title), 'First')
  })

  await t.test('an export is a file without secrets; an import shows what it would do first', async (t) => {
    await open('/settings/manage?scope=application')
    await app.settings.setSetting('app.title', 'Exported', Application)
    await app.settings.setSetting('app.api_token', 'hush', Application)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ])
    t.equal(download.suggestedFilename(), 'settings.json')
    const file = t.testdir({}) + '/settings.json'
    await download.saveAs(file)
    await app.settings.setSetting('app.title', 'Changed meanwhile', Application)
    await app.settings.setSetting('app.style', 'dense', Application)

    await page.getByRole('button', { name: 'Import…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Import settings' })
    await dialog.getByLabel('Choose a file').setInputFiles(file)
    await dialog.getByText('app.title').waitFor()
    t.equal(await dialog.getByText('app.style').count(), 0)
    await dialog.getByLabel('Reset what the file does not mention').check()
    await dialog.getByText('app.style').waitFor()
    await dialog.getByRole('button', { name: 'Import', exact: true }).click()
    await status.getByText('The file was imported.').waitFor()
    t.equal(await field('Title').inputValue(), 'Exported')
    t.equal(app.settings.get(definitions.style), 'calm')
    t.equal(app.settings.get(definitions.apiToken), 'hush', 'a file cannot say that a secret shall go')
  })

  await t.test('a file that is no export, or whose values are refused, changes nothing', async (t) => {
    await open('/settings/manage?scope=application')
    const folder = t.testdir({})
    await writeFile(`${folder}/no.json`, 'null')
    const settings = [{ key: 'app.accent', scope: 1, value: 'red' }]
    await writeFile(`${folder}/bad.json`, JSON.stringify({ format: 1, settings, omitted: [] }))
    await page.getByRole('button', { name: 'Import…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Choose a file').setInputFiles(`${folder}/no.json`)
    await dialog.getByText('This file is no export of settings.').waitFor()
    await dialog.getByLabel('Choose a file').setInputFiles(`${folder}/bad.json`)
    await dialog.getByText(/app\.accent: Enter a hex color/).waitFor()
    t.ok(await dialog.getByRole('button', { name: 'Import', exact: true }).isDisabled())
    await page.keyboard.press('Escape')
    t.equal(await dialog.count(), 0)
    t.ok(writes.every((request) => request.url().includes('dryRun=true')))
  })

  await t.test(
    'a link to a setting opens its tab and puts the focus on it, whatever was searched for',
    async (t) => {
      await open('/settings/manage?scope=system')
      await page.goto(`${url}/settings/manage?scope=system&q=port#setting:contact.website`)
      await page.locator('[data-key="contact.website"] input:focus').waitFor()
      t.equal(await page.getByRole('searchbox').inputValue(), '')
      await row('app.accent').getByRole('button', { name: 'Copy link' }).click()
      await status.getByText('Link copied.').waitFor()
      t.match(page.url(), /#setting:app\.accent$/)
    },
  )

  await t.test(
    'another tab that saves is noticed: untouched rows follow, drafts become conflicts',
    async (t) => {
      await open('/settings/manage?scope=application')
      await field('Style').selectOption('dense')
      const other = await browser.newPage()
      await other.goto(`${url}/settings/manage?scope=application`)
      await other.getByLabel('Title', { exact: true }).fill('From the other tab')
      await other.getByLabel('Style', { exact: true }).selectOption('playful')
      await other.keyboard.press('Control+s')
      await page.waitForFunction(() =>
        document.querySelector<HTMLInputElement>('#fm-app\\.title')?.value.startsWith('From'),
      )
      await row('app.style').getByRole('button', { name: 'Use theirs' }).click()
      t.equal(await field('Style').inputValue(), 'playful')
      t.equal(await bar.count(), 0)
      await other.close()
    },
  )

  await t.test('what is entered while a save is under way stays a draft', async (t) => {
    await open('/settings/manage?scope=application')
    await field('Title').fill('Sent')
    let answer = () => {}
    const held = new Promise<void>((resolve) => (answer = resolve))
    await page.route('**/api/settings/bulk', async (route) => {
      await held
      await route.continue()
    })
    await save.click()
    await page.getByRole('button', { name: 'Saving…' }).waitFor()
    await field('Title').fill('Entered later')
    answer()
    await status.getByText('Saved 1 setting.').waitFor()
    t.equal(await field('Title').inputValue(), 'Entered later')
    t.equal(app.settings.get(definitions.title), 'Sent')
    await page.getByText('1 unsaved change', { exact: true }).waitFor()
    await page.unroute('**/api/settings/bulk')
  })

  await t.test('a list that cannot be loaded says so and tries again', async (t) => {
    await open('/settings/manage')
    await page.route('**/api/settings', (route) => route.abort())
    await page.reload()
    await page.getByRole('alert').getByText('could not be loaded').waitFor()
    await page.unroute('**/api/settings')
    await page.getByRole('button', { name: 'Try again' }).click()
    await row('mail.port').waitFor()
    t.equal(app.settings.get(definitions.port), 587)
    t.equal(await app.settings.getSetting('mail.port', System), null)
  })
})
