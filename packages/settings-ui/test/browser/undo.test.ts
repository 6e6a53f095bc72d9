/** Undo of a save, from the message about it. */
import { SettingScope } from '@fastify-modular/settings'
import { test } from 'tap'
import { problems } from '../support/axe.js'
import { definitions } from '../support/definitions.js'
import { shows } from '@fastify-modular/test-support/shows'
import { visit } from '../support/visit.js'

test('Undo of a save', async (t) => {
  const people = async () => ({ ada: 'Ada Lovelace', linus: 'Linus Tor' })
  const visited = await visit(t, { settings: { findPeople: people } })
  if (!visited) return
  const { page, app, open, field, bar } = visited
  const write = (key: string, value: string, actor: string) =>
    app.settings.contract.setSetting(key, value, SettingScope.Application, undefined, { actor })

  await t.test(
    'a save of three is undone at once, to what was stored before and what was not; one with a secret after a question',
    async (t) => {
      await open('/settings/manage?only=application')
      await app.settings.set('app.title', 'Before')
      await page.reload()
      await field('Title').fill('After')
      await field('Banner').fill('Hello')
      await field('Open registration').check()
      await page.keyboard.press('Control+s')
      await bar.getByText('3 settings saved').waitFor()
      await bar.getByRole('button', { name: 'Undo' }).click()
      await bar.getByText('3 settings are as they were').waitFor()
      t.same([app.settings.get(definitions.title), app.settings.get(definitions.banner)], ['Before', null])
      t.equal(app.settings.get(definitions.signUp), false)
      await shows(t, () => field('Title').inputValue(), 'Before')
      await shows(t, () => field('Banner').inputValue(), '')
      await page.locator('[data-key="app.title"] input:focus').waitFor()

      await field('Title').fill('With a secret')
      await field('API token').fill('hush')
      await page.keyboard.press('Control+s')
      await bar.getByText('2 settings saved').waitFor()
      await bar.getByRole('button', { name: 'Undo…' }).click()
      const dialog = page.getByRole('dialog', { name: 'Undo this change?' })
      await dialog.getByText('Removes the secret: there was none before.').waitFor()
      await dialog.getByRole('button', { name: 'Undo' }).click()
      await bar.getByText('2 settings are as they were').waitFor()
      t.same([app.settings.get(definitions.title), app.settings.get(definitions.apiToken)], ['Before', null])
    },
  )

  await t.test('Undo after the session has ended says so, and is there again after signing in', async (t) => {
    await open('/settings/manage')
    await page.getByLabel('Title', { exact: true }).fill('Kept')
    await page.keyboard.press('Control+s')
    await bar.getByText('1 setting saved').waitFor()
    await page.context().clearCookies()
    await bar.getByRole('button', { name: 'Undo' }).click()
    await bar.getByText('Sign in again to save').waitFor()
    t.equal(app.settings.get(definitions.title), 'Kept')
    t.same(await problems(page), [])
    await page.context().addCookies([{ name: 'user', value: 'ada', url: visited.url }])
    await page.evaluate(() => dispatchEvent(new Event('focus')))
    await bar.getByText('1 setting saved').waitFor()
    await bar.getByRole('button', { name: 'Undo' }).click()
    await bar.getByText('1 setting is as it was').waitFor()
    t.equal(app.settings.get(definitions.title), 'Fastify Modular')
  })

  await t.test('Undo says who has changed something since, and asks', async (t) => {
    const title = page.getByLabel('Title', { exact: true })
    for (const answer of ['Leave it', 'Undo anyway']) {
      await open('/settings/manage?group=general')
      await title.fill('Mine')
      await page.keyboard.press('Control+s')
      await bar.getByText('1 setting saved').waitFor()
      await write('app.title', 'Theirs', 'linus')
      await bar.getByRole('button', { name: 'Undo' }).click()
      await bar.getByText('Linus Tor has changed Title since').waitFor()
      await bar.getByText('Undo would take that back too.').waitFor()
      t.same(await problems(page), [])
      t.equal(app.settings.get(definitions.title), 'Theirs')
      await bar.getByRole('button', { name: answer }).click()
      if (answer === 'Leave it') await bar.waitFor({ state: 'detached' })
      else await bar.getByText('1 setting is as it was').waitFor()
      await page
        .locator(answer === 'Leave it' ? '.fm-main:focus' : '[data-key="app.title"] input:focus')
        .waitFor()
      t.equal(app.settings.get(definitions.title), answer === 'Leave it' ? 'Theirs' : 'Fastify Modular')
    }
  })
})
