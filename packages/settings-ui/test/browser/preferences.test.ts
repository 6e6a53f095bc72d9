/** The preferences page, and the pages behind a proxy. */
import { createServer, request as ask } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SettingScope } from '@fastify-modular/settings'
import { test } from 'tap'
import { definitions } from '../support/definitions.js'
import { startHost } from '../support/host.js'
import { visit } from '../support/visit.js'

const { Application, User } = SettingScope

test('preferences', async (t) => {
  const visited = await visit(t)
  if (!visited) return
  const { page, app, open, row, url, browser, complaints } = visited
  const rows = page.getByLabel('Rows per page', { exact: true })
  const save = page.getByRole('button', { name: 'Save changes' })
  const status = page.getByRole('status')

  await t.test('only User settings, with what the application says', async (t) => {
    await open('/settings/me', 'vera')
    await app.settings.setSetting('user.page_size', 50, Application)
    await page.reload()
    await row('user.page_size').getByText('From the application: 50').waitFor()
    t.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'My settings')
    t.equal(await page.locator('[data-key]').count(), 2)
    t.equal(await rows.inputValue(), '50')
    t.equal(await page.getByRole('tab').count(), 0)
    t.equal(await page.getByRole('button', { name: /^History/ }).count(), 0, 'which would be refused')
  })

  await t.test(
    'UI-14: resetting shows the value of the application, not the default of the definition',
    async (t) => {
      await open('/settings/me', 'vera')
      await app.settings.setSetting('user.page_size', 50, Application)
      await rows.fill('100')
      await save.click()
      await status.getByText('Saved 1 setting.').waitFor()
      t.equal((await app.settings.forUser('vera')).get(definitions.pageSize), 100)
      t.equal((await app.settings.forUser('ada')).get(definitions.pageSize), 50)
      await row('user.page_size').getByRole('button', { name: 'Reset' }).click()
      await status.getByText('Rows per page was reset.').waitFor()
      t.equal(await rows.inputValue(), '50')
      t.equal(await row('user.page_size').getAttribute('data-state'), 'default')
    },
  )

  await t.test('what is refused stays a draft, the rest is saved', async (t) => {
    await open('/settings/me', 'vera')
    await rows.fill('3')
    await row('user.theme').getByRole('combobox').selectOption('dark')
    await save.click()
    await page
      .getByRole('alert')
      .getByRole('link', { name: /^Rows per page: / })
      .waitFor()
    t.equal(await rows.inputValue(), '3')
    t.equal(await app.settings.getSettingAs('user.theme', User, 'vera'), 'dark')
    await page.getByText('1 unsaved change', { exact: true }).waitFor()
  })

  await t.test('changed on another device meanwhile: both values, and the choice', async (t) => {
    await open('/settings/me', 'vera')
    await rows.fill('20')
    await app.settings.setSetting('user.page_size', 30, User, 'vera')
    await save.click()
    await row('user.page_size').getByText('to 30.').waitFor()
    await row('user.page_size').getByRole('button', { name: 'Keep mine' }).click()
    await save.click()
    await status.getByText('Saved 1 setting.').waitFor()
    t.equal(await app.settings.getSettingAs('user.page_size', User, 'vera'), 20)
  })

  await t.test('the choice of light or dark stays in this browser', async (t) => {
    await open('/settings/me', 'vera')
    await page.getByRole('banner').getByLabel('Theme').selectOption('dark')
    await page.reload()
    t.equal(await page.locator('html').getAttribute('data-theme'), 'dark')
    t.equal(await page.getByRole('banner').getByLabel('Theme').inputValue(), 'dark')
    await page.getByRole('banner').getByLabel('Theme').selectOption('auto')
    await page.getByRole('link', { name: 'All settings' }).click()
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
    await row('mail.port').waitFor()
    t.equal(page.url(), `${outside}/settings/manage`)
    await page.getByLabel('SMTP port', { exact: true }).fill('25')
    await save.click()
    await status.getByText('Saved 1 setting.').waitFor()
    await page.getByRole('link', { name: 'My settings' }).click()
    await row('user.theme').waitFor()
    t.equal(page.url(), `${outside}/settings/me`)
    t.same(complaints, [])
  })

  await t.test('where own writes need a permission, a caller without it reads, and sees why', async (t) => {
    const strict = await startHost(t, {
      settings: { ownWrites: 'permission' },
      ui: { ownWrites: 'permission' },
    })
    await browser.addCookies([{ name: 'user', value: 'vera', url: strict.url }])
    await page.goto(`${strict.url}/settings/me`)
    await page.getByText('To change them, you need the permission “Settings.Update”.').waitFor()
    t.equal(await rows.getAttribute('readonly'), '')
    t.equal(await row('user.theme').getByRole('combobox').count(), 0)
  })

  await t.test('UI-37: without JavaScript the page says what to do', async (t) => {
    const response = await page.request.get(`${url}/settings/me`, { headers: { cookie: 'user=vera' } })
    t.match(await response.text(), /<noscript>.*need JavaScript.*HTTP API.*<\/noscript>/)
  })
})
