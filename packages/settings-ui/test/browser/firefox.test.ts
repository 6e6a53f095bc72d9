/** Both pages in another engine: they load, find, and save, and Firefox has nothing to complain about. */
import { testFirefox } from '@fastify-modular/test-support/firefox'
import { SettingScope } from '@fastify-modular/settings'
import { test } from 'tap'
import { definitions } from '../support/definitions.js'
import { startHost } from '../support/host.js'

test('Firefox loads both pages, searches and saves without an error on the console', async (t) => {
  const browser = await testFirefox(t)
  if (browser === null) return
  const { url, app } = await startHost(t)
  const page = await browser.newPage()
  page.setDefaultTimeout(60_000)
  const complaints: string[] = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(String(error)))
  await page.goto(`${url}/login?as=ada&returnTo=/settings/manage`)

  await page.locator('input[type=search]').fill('smtp prot')
  await page.locator('[data-key="mail.port"] input').fill('2525')
  await page.locator('.fm-bar button[type=submit]').click()
  await page.locator('.fm-toast').wait()
  t.equal(app.settings.get(definitions.port), 2525)

  await page.goto(`${url}/settings/manage?view=activity`)
  const change = page.locator('.fm-event').map((event) => event.textContent)
  t.match(await change.wait(), /ada changed SMTP port.*587.*2525/)

  await page.goto(`${url}/settings/me`)
  await page.locator('[data-key="user.theme"] input[value="dark"]').click()
  await page.locator('[data-key="user.theme"] .fm-pill.is-good').wait()
  t.equal(await app.settings.getSetting('user.theme', SettingScope.User, 'ada'), 'dark')
  t.same(complaints, [])
})
