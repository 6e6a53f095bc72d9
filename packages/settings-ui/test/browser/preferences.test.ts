/** The preferences page, and the pages behind a proxy. */
import { createServer, request as ask } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setting, SettingScope } from '@fastify-modular/settings'
import { shows } from '@fastify-modular/test-support/shows'
import { test } from 'tap'
import { definitions } from '../support/definitions.js'
import { startHost } from '../support/host.js'
import { visit } from '../support/visit.js'

const { Application, User } = SettingScope

const own = {
  columns: setting.json('user.columns', { displayName: 'Columns', scope: User, default: { a: 1 } }),
}

test('preferences', async (t) => {
  const visited = await visit(t, { settings: { definitions: [definitions, own] } })
  if (!visited) return
  const { page, app, open, row, url, browser, complaints, warnings, writes, status, save } = visited
  const rows = page.getByLabel('Rows per page', { exact: true })

  await t.test('only User settings, with what the application says', async (t) => {
    await open('/settings/preferences', 'vera')
    await app.settings.contract.setSetting('user.page_size', 50, Application)
    await page.reload()
    await row('user.page_size').waitFor()
    await shows(t, () => page.getByRole('heading', { level: 1 }).textContent(), 'Preferences')
    await shows(t, () => page.locator('[data-key]').count(), 3)
    await shows(t, () => rows.inputValue(), '50')
    t.equal(await page.getByRole('searchbox').count(), 0, 'there is too little to search')
    t.equal(await page.getByText('user.page_size').count(), 0, 'keys are for administrators')
    t.equal(await page.getByRole('button', { name: /^More/ }).count(), 0, 'nothing there would be allowed')
  })

  await t.test(
    'UI-14: a change is saved at once; resetting shows the value of the application, not the default of the definition',
    async (t) => {
      await open('/settings/preferences', 'vera')
      await app.settings.contract.setSetting('user.page_size', 50, Application)
      await page.reload() // what arrives while a field has the focus waits until it has it no more
      await row('user.page_size').waitFor()
      await rows.fill('100')
      await rows.blur()
      await row('user.page_size').getByText('Saved', { exact: true }).waitFor()
      t.equal((await app.settings.forUser('vera')).get(definitions.pageSize), 100)
      t.equal((await app.settings.forUser('ada')).get(definitions.pageSize), 50)
      await row('user.page_size').getByText('The default is 50.').waitFor()
      await row('user.page_size').getByRole('button', { name: 'Reset' }).click()
      await status.getByText('Rows per page was reset.').waitFor()
      await shows(t, () => rows.inputValue(), '50')
      await shows(t, () => row('user.page_size').getAttribute('data-state'), 'default')
      await rows.and(page.locator(':focus')).waitFor() // the focus stays with the setting
    },
  )

  await t.test('Undo takes the last change back: to the value before, or to the default', async (t) => {
    await open('/settings/preferences', 'vera')
    const undo = row('user.theme').getByRole('button', { name: 'Undo Theme' })
    const stored = () => app.settings.contract.getSettingAs('user.theme', User, 'vera')
    await row('user.theme').getByRole('radio', { name: 'dark' }).check()
    await undo.click()
    await status.getByText('1 setting is as it was').waitFor()
    t.equal(await stored(), null)
    await row('user.theme').getByRole('radio', { name: 'dark' }).check()
    await undo.waitFor()
    await row('user.theme').getByRole('radio', { name: 'light' }).check()
    await page.waitForFunction(async () => {
      const response = await fetch('../api/settings/me')
      return JSON.stringify(await response.json()).includes('"light"')
    })
    await undo.click()
    await row('user.theme').getByRole('radio', { name: 'dark', checked: true }).waitFor()
    t.equal(await stored(), 'dark')
  })

  await t.test('what is refused stays a draft and says why; the others are saved', async (t) => {
    await open('/settings/preferences', 'vera')
    await rows.fill('3')
    await row('user.theme').getByRole('radio', { name: 'dark' }).check()
    await row('user.theme').getByText('Saved', { exact: true }).waitFor()
    await row('user.page_size').getByText('Enter a number from 5 to 200.').waitFor()
    await shows(t, () => rows.inputValue(), '3')
    t.equal(await app.settings.contract.getSettingAs('user.theme', User, 'vera'), 'dark')
    await page.getByRole('button', { name: '1 needs attention' }).waitFor()
  })

  await t.test('without an answer a change stays a draft that can be tried again', async (t) => {
    await open('/settings/preferences', 'vera')
    await page.route('**/api/settings/me', (route) =>
      route.request().method() === 'PUT' ? route.abort() : route.continue(),
    )
    await row('user.theme').getByRole('radio', { name: 'dark' }).check()
    await page.locator('.fm-bar').getByText('does not answer').waitFor()
    await row('user.theme').getByText('Not saved').waitFor()
    await page.unroute('**/api/settings/me')
    await page.getByRole('button', { name: 'Save again' }).click()
    await row('user.theme').getByText('Saved', { exact: true }).waitFor()
    t.equal(await app.settings.contract.getSettingAs('user.theme', User, 'vera'), 'dark')
  })

  await t.test('the last of two quick choices holds, also where it is the one that was stored', async (t) => {
    await open('/settings/preferences', 'vera')
    const theme = (name: string) => row('user.theme').getByRole('radio', { name })
    const stored = () => app.settings.contract.getSettingAs('user.theme', User, 'vera')
    await theme('light').check()
    await row('user.theme').getByText('Saved', { exact: true }).waitFor()
    let release = (): void => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    await page.route('**/api/settings/me', async (route) => {
      await released
      await route.continue()
    })
    const sent = page.waitForRequest('**/api/settings/me')
    await theme('dark').check()
    await theme('light').check()
    await sent
    release()
    await row('user.theme').getByText('Saved', { exact: true }).waitFor()
    await shows(t, () => theme('light').isChecked(), true)
    await shows(t, stored, 'light')
    await page.unroute('**/api/settings/me')
  })

  await t.test('HTML with 503 keeps the change; the next one that is saved takes it along', async (t) => {
    await open('/settings/preferences', 'vera')
    await page.route('**/api/settings/me', (route) =>
      route.request().method() === 'PUT'
        ? route.fulfill({ status: 503, contentType: 'text/html', body: '<h1>Down</h1>' })
        : route.continue(),
    )
    await row('user.theme').getByRole('radio', { name: 'dark' }).check()
    await page.locator('.fm-bar').getByText('The server could not complete the request.').waitFor()
    await row('user.theme').getByText('Not saved').waitFor()
    const again = page.waitForEvent('response', (response) => response.status() === 503)
    await rows.fill('20') // leaving the theme tries again
    await again
    await page.unroute('**/api/settings/me')
    await rows.blur()
    await row('user.page_size').getByText('Saved', { exact: true }).waitFor()
    await row('user.theme').getByText('Saved', { exact: true }).waitFor()
    t.equal(await app.settings.contract.getSettingAs('user.theme', User, 'vera'), 'dark')
  })

  await t.test('a login page in place of an answer: sign in again; leaving asks', async (t) => {
    await open('/settings/preferences', 'vera')
    await page.route('**/api/settings/me', (route) =>
      route.request().method() === 'PUT'
        ? route.fulfill({ contentType: 'text/html', body: '<h1>Sign in</h1>' })
        : route.continue(),
    )
    await row('user.theme').getByRole('radio', { name: 'dark' }).check()
    await page.locator('.fm-bar').getByText('Sign in again to save').waitFor()
    await page.reload()
    t.same(warnings, ['beforeunload'])
    await page.unroute('**/api/settings/me')
  })

  await t.test('changed on another device meanwhile: both values, and the choice', async (t) => {
    await open('/settings/preferences', 'vera')
    await rows.fill('20')
    await app.settings.contract.setSetting('user.page_size', 30, User, 'vera')
    await rows.press('Enter')
    await row('user.page_size').getByText('(30)', { exact: true }).waitFor()
    await row('user.page_size').getByRole('button', { name: 'Keep mine' }).click()
    await row('user.page_size').getByText('Saved', { exact: true }).waitFor()
    t.equal(await app.settings.contract.getSettingAs('user.page_size', User, 'vera'), 20)
  })

  await t.test('the choice of light or dark stays in this browser', async (t) => {
    await open('/settings/preferences', 'ada')
    const account = page.getByRole('button', { name: 'Your account' })
    const theme = page.getByRole('banner').getByRole('radiogroup', { name: 'Theme' })
    await account.click()
    await theme.getByRole('radio', { name: 'Dark' }).check()
    await page.reload()
    t.equal(await page.locator('html').getAttribute('data-theme'), 'dark')
    await account.click()
    await shows(t, () => theme.getByRole('radio', { name: 'Dark' }).isChecked(), true)
    await theme.getByRole('radio', { name: 'System' }).check()
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Settings', exact: true }).click()
    await page.waitForURL('**/settings/manage')
  })

  await t.test('UI-27: works behind a proxy that strips a prefix and forwards no header', async (t) => {
    const proxy = createServer((incoming, outgoing) => {
      const path = incoming.url?.replace(/^\/behind\/here/, '')
      const inner = ask(url + path, { method: incoming.method, headers: incoming.headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(outgoing)
      })
      incoming.pipe(inner)
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    t.teardown(() => proxy.close())
    const outside = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/behind/here`
    await browser.addCookies([{ name: 'user', value: 'ada', url: outside }])
    complaints.length = 0
    await page.goto(`${outside}/settings`)
    await page.getByRole('link', { name: 'Mail' }).click()
    t.equal(new URL(page.url()).pathname, '/behind/here/settings/manage')
    await page.getByLabel('SMTP port', { exact: true }).fill('25')
    await save.click()
    await status.getByText('1 setting saved').waitFor()
    await page.getByRole('link', { name: 'Preferences' }).click()
    await row('user.theme').waitFor()
    t.equal(page.url(), `${outside}/settings/preferences`)
    t.same(complaints, [])
  })

  await t.test('where own writes need a permission, a caller without it reads, and sees why', async (t) => {
    const strict = await startHost(t, {
      settings: { selfService: false },
      ui: { selfService: false },
    })
    await browser.addCookies([{ name: 'user', value: 'vera', url: strict.url }])
    await page.goto(`${strict.url}/settings/preferences`)
    await page.getByText('Changing them needs the permission “Settings.Update”.').waitFor()
    await shows(t, () => rows.getAttribute('readonly'), '')
    t.equal(await row('user.theme').getByRole('radio').count(), 0)
  })

  await t.test('UI-37: without JavaScript the page says what to do', async (t) => {
    const response = await page.request.get(`${url}/settings/preferences`, {
      headers: { cookie: 'user=vera' },
    })
    t.match(await response.text(), /<noscript>.*need JavaScript.*HTTP API.*<\/noscript>/)
  })

  await t.test('JSON is saved when it is left; what is broken is pointed out before', async (t) => {
    await page.clock.install()
    await open('/settings/preferences', 'vera')
    const columns = page.getByLabel('Columns', { exact: true })
    await columns.fill('')
    await page.clock.runFor(1000)
    await columns.fill('{"b":2')
    await page.clock.runFor(1000)
    await row('user.columns').getByRole('button', { name: 'Go to line 1' }).waitFor()
    await columns.press('}')
    await page.clock.runFor(1000)
    await columns.press('ArrowLeft')
    await page.keyboard.type(',"c":3')
    t.equal(await columns.inputValue(), '{"b":2,"c":3}', 'nothing moves under the caret')
    await columns.blur()
    await row('user.columns').getByText('Saved', { exact: true }).waitFor()
    t.equal(writes.length, 1)
    t.same(await app.settings.contract.getSettingAs('user.columns', User, 'vera'), { b: 2, c: 3 })
  })
})
