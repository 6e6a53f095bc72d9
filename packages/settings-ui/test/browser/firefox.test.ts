/** Both pages and the element in another engine: they load, find, and save, and Firefox has nothing to complain about. */
import { testFirefox } from '@fastify-modular/test-support/firefox'
import { SettingScope } from '@fastify-modular/settings'
import { test } from 'tap'
import { definitions } from '../support/definitions.js'
import { startHost } from '../support/host.js'
import { plainHost, plainPath } from '../support/plain-host.js'

test('Firefox loads both pages and the element, searches and saves without an error on the console', async (t) => {
  const browser = await testFirefox(t)
  if (browser === null) return
  const { url, app } = await startHost(t, { modules: [plainHost] })
  const page = await browser.newPage()
  page.setDefaultTimeout(120_000)
  const complaints: string[] = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(String(error)))
  const click = async (selector: string) => (await page.waitForSelector(selector))?.click()
  const type = async (selector: string, text: string) => {
    const field = await page.waitForSelector(selector)
    await field?.focus()
    await page.keyboard.down('Control')
    await page.keyboard.press('a') // what is typed replaces what is there
    await page.keyboard.up('Control')
    await field?.type(text)
  }
  await page.goto(`${url}/login?as=ada&returnTo=/settings/manage`)

  await type('[role=searchbox]', 'smtp prot')
  await type('[data-key="mail.port"] input', '2525')
  await click('.fm-bar button[type=submit]')
  await page.waitForSelector('[data-key="mail.port"][data-state="overridden"]')
  t.equal(app.settings.get(definitions.port), 2525)

  await page.goto(`${url}/settings/manage?view=activity`)
  const change = await page.waitForSelector('.fm-event')
  t.match(await change?.evaluate((event) => event.textContent), /ada changed SMTP port.*587.*2525/)

  await page.goto(`${url}/settings/preferences`)
  await click('[data-key="user.theme"] input[value="dark"]')
  await page.waitForSelector('[data-key="user.theme"] .fm-pill.is-good')
  t.equal(await app.settings.contract.getSetting('user.theme', SettingScope.User, 'ada'), 'dark')

  await page.goto(url + plainPath('<fm-settings page="manage" group="Mail"></fm-settings>'))
  await type('fm-settings >>> [data-key="mail.port"] input', '2526')
  await page.keyboard.press('Enter')
  await page.waitForSelector('fm-settings >>> [data-key="mail.port"][data-state="overridden"]')
  t.equal(app.settings.get(definitions.port), 2526)
  t.same(complaints, [])
})
