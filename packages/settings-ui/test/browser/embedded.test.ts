/** A group of the administration as an element of a host's page: its *Test*, and its menus where it runs the other way. */
import { test } from 'tap'
import { problems } from '../support/axe.js'
import { boxOf } from '../support/looks.js'
import { createMailer } from '../support/mailer.js'
import { openPlain, plainHost } from '../support/plain-host.js'
import { visit } from '../support/visit.js'

const mail = '<h1>Host</h1><fm-settings page="manage" group="Mail"></fm-settings>'

test('a group within a page of a host', async (t) => {
  const visited = await visit(t, { modules: [plainHost, createMailer().module] })
  if (!visited) return
  const { app, page, field, bar, row } = visited

  await t.test('it is tested with what is entered, which stays unsaved', async (t) => {
    await openPlain(visited, mail)
    await field('SMTP host').fill('smtp.acme.example')
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    await bar.getByText(/^Connected to smtp\.acme\.example:\d+ in 40 ms$/).waitFor()
    await bar.getByText('With your change. Nothing is saved yet.').waitFor()
    t.equal(app.settings.status.revision, 0)
    t.same(await problems(page), [])
    await field('SMTP host').fill('refused')
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    await bar.getByText('The mail server refused the sign-in.').waitFor()
  })

  await t.test('in Arabic, within an English page, a menu opens away from the name', async (t) => {
    await openPlain(visited, mail)
    await page.setExtraHTTPHeaders({ 'accept-language': 'ar' })
    await page.reload()
    await page.locator('fm-settings [dir=rtl]').waitFor()
    const more = row('mail.port').locator('.fm-more')
    await more.click()
    const [menu, button] = [await boxOf(page.locator('.fm-menu:popover-open')), await boxOf(more)]
    t.ok(Math.abs(menu.x + menu.width - button.x - button.width) < 2, `${menu.x} to ${menu.x + menu.width}`)
  })
})
