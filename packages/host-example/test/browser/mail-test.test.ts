/** *Test* at the mail settings tries a real mail server before anything is saved. */
import { testBrowser } from '@fastify-modular/test-support/browser'
import { test } from 'tap'
import { violationsOf } from '../axe.js'
import { startHost } from '../host.js'
import { startSmtp } from '../smtp.js'

test('the mail server is tested from its group, and saved when it answers', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const host = await startHost(t)
  const server = await startSmtp(t)
  const admin = await host.signIn('admin')
  await admin.enter(browser)
  const page = await browser.newPage()
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await page.goto(`${host.url}/settings/manage?group=mail`)
  const run = page.getByRole('button', { name: 'Test', exact: true })
  const bar = page.locator('.fm-bar')
  const enter = (key: string, value: string) => page.locator(`[data-key="mail.${key}"] input`).fill(value)
  await run.waitFor()
  await enter('host', '127.0.0.1')
  await enter('port', String(server.port))
  await enter('user', 'app')
  await enter('password', 'wrong')
  await run.click()
  await bar.getByText('The mail server refused the sign-in.').waitFor()
  t.same(await violationsOf(page), [])
  await enter('password', 'right')
  await run.click()
  await bar.getByText('The mail server answers.').waitFor()
  await bar.getByText('With your 4 changes. Nothing is saved yet.').waitFor()
  await page.getByRole('button', { name: 'Save 4 changes' }).click()
  await bar.getByText('4 settings saved').waitFor()
  await run.click()
  await bar.getByText('The mail server answers.').waitFor()
  t.same(server.shown, ['wrong', 'right', 'right'])
})
