/** History, files, links, and other tabs of the same browser. */
import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { setting, SettingScope } from '@fastify-modular/settings'
import { shows } from '@fastify-modular/test-support/shows'
import type { Route } from 'playwright-core'
import { test } from 'tap'
import { problems } from '../support/axe.js'
import { definitions } from '../support/definitions.js'
import { boxOf } from '../support/looks.js'
import { visit } from '../support/visit.js'

const { Application } = SettingScope

/** On no page; files name it. */
const hidden = {
  partner: setting.text('app.partner', { displayName: 'Partner number', scope: Application, hidden: true }),
}

test('history, files, links, tabs', async (t) => {
  const visited = await visit(t, { settings: { definitions: [definitions, hidden] } })
  if (!visited) return
  const { page, app, open, row, browser, url, writes, field, status, bar, save } = visited
  /** An action of a row's menu. */
  const act = async (key: string, name: string) => {
    await row(key)
      .getByRole('button', { name: /^More for/ })
      .click()
    await page.getByRole('menuitem', { name }).click()
  }
  const transfer = async (name: string) => {
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name }).click()
  }

  await t.test(
    'history shows who changed what and which value holds now, and restores an older one',
    async (t) => {
      await open('/settings/manage?only=application')
      await app.settings.set('app.title', 'First', { actor: 'Grace' })
      await app.settings.set('app.title', 'Second', { actor: 'Linus' })
      await page.reload()
      await act('app.title', 'History')
      const dialog = page.getByRole('dialog', { name: 'History of Title' })
      const events = dialog.locator('.fm-event')
      const newest = events.filter({ hasText: /Linus changed Title.*First.*Second/s })
      await newest.getByText('Now', { exact: true }).waitFor()
      t.same(await problems(page), [])
      const late = async (route: Route): Promise<void> => {
        await sleep(300) // of a busy server
        await route.continue()
      }
      await page.route('**/api/settings', late)
      await events
        .filter({ hasText: /Grace changed Title.*Fastify Modular default.*First/s })
        .getByRole('button', { name: /^Restore/ })
        .first()
        .click()
      await dialog.getByRole('status').getByText('Title has the older value again.').waitFor()
      t.equal(await field('Title').inputValue(), 'First', 'the row has the value before the message says so')
      await page.unrouteAll({ behavior: 'wait' })
      t.equal(app.settings.get(definitions.title), 'First')
      await events.first().getByRole('button', { name: /^Undo/ }).click()
      await events
        .filter({ hasText: /First.*Second/s })
        .first()
        .getByText('Now', { exact: true })
        .waitFor()
      t.equal(app.settings.get(definitions.title), 'Second')
    },
  )

  await t.test('history shows a long value whole, on the page that it is on', async (t) => {
    await open('/settings/manage?only=application')
    const features = { names: Array.from({ length: 500 }, (_, index) => `feature ${index}`) }
    await app.settings.contract.setSetting('app.features', features, Application, undefined, {
      actor: 'Grace',
    })
    for (let index = 0; index < 101; index++)
      await app.settings.contract.setSetting('app.features', { index }, Application, undefined, {
        actor: 'Linus',
      })
    await page.reload()
    await act('app.features', 'History')
    const dialog = page.getByRole('dialog', { name: 'History of Features' })
    const long = dialog.locator('.fm-event').filter({ hasText: /Grace changed Features/ })
    await dialog.getByText('"index": 100').first().waitFor()
    t.equal(await long.count(), 0, 'on the page after')
    await dialog.getByRole('button', { name: 'Show older' }).click()
    await long.waitFor()
    await shows(
      t,
      () => dialog.getByRole('button', { name: 'Show older' }).count(),
      0,
      'that was the last page',
    )
    await long.getByText('"feature 499"').waitFor()
    await long.getByRole('button', { name: 'Restore' }).click()
    await dialog.getByRole('status').getByText('Features has the older value again.').waitFor()
    t.same(app.settings.get(definitions.features), features)
  })

  await t.test('an export is a file without secrets; an import shows what it would do first', async (t) => {
    await open('/settings/manage?only=application')
    await app.settings.set('app.title', 'Exported')
    await app.settings.set('app.api_token', 'hush')
    const [download] = await Promise.all([page.waitForEvent('download'), transfer('Export…')])
    t.equal(download.suggestedFilename(), 'settings.json')
    const file = t.testdir({}) + '/settings.json'
    await download.saveAs(file)
    await app.settings.set('app.title', 'Changed meanwhile')
    await app.settings.set('app.style', 'dense')

    await transfer('Import…')
    const dialog = page.getByRole('dialog', { name: 'Import settings' })
    const [input, frame] = await Promise.all([
      boxOf(dialog.getByLabel('Choose a file')),
      boxOf(dialog.locator('.fm-drop')),
    ])
    t.ok(input.width > frame.width - 4 && input.height > frame.height - 4, 'dropped anywhere in the frame')
    await dialog.getByLabel('Choose a file').setInputFiles(file)
    const changes = dialog.locator('.fm-change')
    await changes.filter({ hasText: /Title.*Changed meanwhile.*Exported/s }).waitFor()
    t.equal(await dialog.getByText('Style').count(), 0)
    await dialog.getByRole('button', { name: 'Import 1', exact: true }).waitFor()
    await dialog.getByLabel('Reset what the file does not mention').check()
    await dialog.getByRole('heading', { name: '1 goes back to its default' }).waitFor()
    await changes.filter({ hasText: /Style.*dense.*calm default/s }).waitFor()
    t.same(await problems(page), [])
    // Chromium opens no file chooser in a test: this is what the field fires when one is cancelled.
    await dialog
      .getByLabel('Choose a file')
      .evaluate((input) => input.dispatchEvent(new Event('cancel', { bubbles: true })))
    await dialog.getByRole('button', { name: 'Import 1, reset 1' }).click()
    await status.getByText('2 settings imported').waitFor()
    await shows(t, () => field('Title').inputValue(), 'Exported')
    t.equal(app.settings.get(definitions.style), 'calm')
    t.equal(app.settings.get(definitions.apiToken), 'hush', 'a file cannot say that a secret shall go')
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await status.getByText('2 settings are as they were').waitFor()
    t.same(
      [app.settings.get(definitions.title), app.settings.get(definitions.style)],
      ['Changed meanwhile', 'dense'],
    )
  })

  await t.test('a file that is not an export, or whose values are refused, changes nothing', async (t) => {
    await open('/settings/manage?only=application')
    const folder = t.testdir({})
    await writeFile(`${folder}/no.json`, 'null')
    const settings = [{ key: 'app.accent', scope: 1, value: 'red' }]
    await writeFile(`${folder}/bad.json`, JSON.stringify({ format: 1, settings, omitted: [] }))
    await transfer('Import…')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Choose a file').setInputFiles(`${folder}/no.json`)
    await dialog.getByText('This file is not an export of settings.').waitFor()
    await dialog.getByLabel('Choose a file').setInputFiles(`${folder}/bad.json`)
    await dialog.getByText(/Accent colour: Enter a colour like/).waitFor()
    await shows(t, () => dialog.getByRole('button', { name: 'Import', exact: true }).isDisabled(), true)
    const corrected = [{ key: 'app.accent', scope: 1, value: '#ff0000' }]
    await writeFile(`${folder}/bad.json`, JSON.stringify({ format: 1, settings: corrected, omitted: [] }))
    await dialog.getByLabel('Choose a file').setInputFiles(`${folder}/bad.json`)
    await dialog.getByRole('button', { name: 'Import 1' }).waitFor()
    await shows(t, () => dialog.getByRole('alert').count(), 0, 'put right under the same name')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    t.ok(writes.every((request) => request.url().includes('dryRun=true')))

    await writeFile(`${folder}/bad.json`, JSON.stringify({ format: 1, settings, omitted: [] }))
    await open('/settings/manage?only=application', 'ada', { language: 'de' })
    await page.getByRole('button', { name: 'Mehr', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Importieren …' }).click()
    await dialog.getByLabel('Datei auswählen').setInputFiles(`${folder}/bad.json`)
    await dialog.getByText('Accent colour: Geben Sie eine Farbe wie #3b82f6 ein.').waitFor()
  })

  await t.test(
    'an import names what no page lists, and says so when the right to change is gone',
    async (t) => {
      await open('/settings/manage')
      const file = `${t.testdir({})}/settings.json`
      const settings = [{ key: 'app.partner', scope: 1, value: '4711' }]
      await writeFile(file, JSON.stringify({ format: 1, settings, omitted: [] }))
      await transfer('Import…')
      const dialog = page.getByRole('dialog', { name: 'Import settings' })
      await dialog.getByLabel('Choose a file').setInputFiles(file)
      await dialog
        .locator('.fm-change')
        .filter({ hasText: /Partner number.*4711/s })
        .waitFor()
      await browser.addCookies([{ name: 'user', value: 'vera', url }])
      await dialog.getByRole('button', { name: 'Import 1' }).click()
      await dialog.getByRole('alert').getByText('permission').waitFor()
      await shows(
        t,
        () => dialog.getByRole('button', { name: 'Import 1' }).isDisabled(),
        true,
        'nothing that would fail',
      )
      t.equal(app.settings.get(hidden.partner), null)
      t.same(await problems(page), [])
    },
  )

  await t.test('without a stream, a window that comes back asks once for what has changed', async (t) => {
    await page.route('**/api/settings/stream', (route) => route.abort())
    await open('/settings/manage')
    await page.locator('.is-stale', { hasText: /^Offline, showing/ }).waitFor() // it is read out, too
    const reads: string[] = []
    page.on('request', (request) => reads.push(new URL(request.url()).pathname))
    const answered = page.waitForResponse((response) => response.url().endsWith('/api/settings'))
    await page.evaluate(() => {
      document.dispatchEvent(new Event('visibilitychange'))
      dispatchEvent(new Event('focus'))
    })
    await answered
    await page.evaluate(() => new Promise((done) => setTimeout(done)))
    await page.unroute('**/api/settings/stream')
    t.same(
      reads.filter((path) => !path.endsWith('/stream')),
      ['/api/settings'],
    )
  })

  await t.test(
    'a link to a setting opens its group and puts the focus on it, whatever was searched for',
    async (t) => {
      await open('/settings/manage?only=system')
      await page.goto(`${url}/settings/manage?group=mail&q=port#setting:contact.website`)
      await page.locator('[data-key="contact.website"] input:focus').waitFor()
      await shows(t, () => page.getByRole('searchbox').inputValue(), '')
      await page.getByRole('link', { name: 'Appearance' }).click()
      await act('app.accent', 'Copy link')
      await status.getByText('Copied.').waitFor()
      await page.waitForURL(/#setting:app\.accent$/)
      for (const hash of ['#%E0%A4%A', '#setting:no.such', '#setting:__proto__']) {
        await page.goto('about:blank')
        await page.goto(`${url}/settings/manage${hash}`)
        await row('app.title').waitFor()
      }
    },
  )

  await t.test(
    'another tab that saves is noticed: untouched rows follow, drafts become conflicts',
    async (t) => {
      await open('/settings/manage?only=application')
      await row('app.style').getByRole('radio', { name: 'dense' }).check()
      const other = await browser.newPage()
      await other.goto(`${url}/settings/manage?only=application`)
      await other.getByLabel('Title', { exact: true }).fill('From the other tab')
      await other.getByRole('radio', { name: 'playful' }).check()
      await other.keyboard.press('Control+s')
      await page.waitForFunction(() =>
        document.querySelector<HTMLInputElement>('#fm-app\\.title')?.value.startsWith('From'),
      )
      await row('app.style').getByRole('button', { name: 'Take ada’s' }).click()
      await shows(t, () => row('app.style').getByRole('radio', { name: 'playful' }).isChecked(), true)
      await shows(t, () => bar.getByText('unsaved').count(), 0)
      await other.close()
    },
  )

  await t.test('what is entered while a save is under way stays a draft', async (t) => {
    await open('/settings/manage?only=application')
    await field('Title').fill('Sent')
    let answer = () => {}
    const held = new Promise<void>((resolve) => (answer = resolve))
    await page.route('**/api/settings/bulk', async (route) => {
      await held
      await route.continue()
    })
    await save.click()
    await bar.getByText('Saving 1 change…').waitFor()
    await field('Title').fill('Entered later')
    answer()
    await status.getByText('1 setting saved').waitFor()
    await shows(t, () => field('Title').inputValue(), 'Entered later')
    t.equal(app.settings.get(definitions.title), 'Sent')
    await page.getByText('1 unsaved change', { exact: true }).waitFor()
    await page.unroute('**/api/settings/bulk')
  })

  await t.test('nothing says that a key was copied where the clipboard cannot be written', async (t) => {
    await page.clock.install()
    await open('/settings/manage')
    const clipboards = ['undefined', '{ writeText: () => Promise.reject(new Error("denied")) }']
    for (const clipboard of clipboards) {
      await page.evaluate(
        `Object.defineProperty(navigator, 'clipboard', { value: ${clipboard}, configurable: true })`,
      )
      await act('app.title', 'Copy key')
      await page.clock.runFor(1000)
      t.equal((await status.allTextContents()).join(''), '')
    }
    await page.evaluate(
      `Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { window.copied = text } } })`,
    )
    await act('app.title', 'Copy key')
    await page.clock.runFor(1000)
    await status.getByText('Copied.').waitFor()
    await shows(t, () => page.evaluate('window.copied'), 'app.title')
  })
})
