/** The administration as an element of a host's page: its heading, the *Test* of a group, and its menus where it runs the other way. */
import type { FastifyInstance } from 'fastify'
import type { Locator } from 'playwright-core'
import { test } from 'tap'
import { shows } from '@fastify-modular/test-support/shows'
import { problems } from '../support/axe.js'
import { definitions } from '../support/definitions.js'
import { boxOf } from '../support/looks.js'
import { createMailer } from '../support/mailer.js'
import { openPlain, plainHost } from '../support/plain-host.js'
import { phone, visit } from '../support/visit.js'

const mail = '<h1>Host</h1><fm-settings page="manage" group="Mail"></fm-settings>'

const clipOf = (part: Locator) => part.evaluate((element) => getComputedStyle(element).clipPath)

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

  await t.test('its name is seen once, and is the first heading at every width', async (t) => {
    await openPlain(visited, mail)
    const first = page.locator('fm-settings').getByRole('heading', { level: 1, name: 'Mail' })
    const second = page.locator('fm-settings').getByRole('heading', { level: 2 }).getByText('Mail')
    for (const [size, seen, hidden] of [
      [{ width: 1280, height: 800 }, second, first],
      [phone, first, second],
    ] as const) {
      await page.setViewportSize(size)
      await shows(t, () => clipOf(seen), 'none')
      await shows(t, () => clipOf(hidden), 'inset(50%)')
    }
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

test('the heading of a page follows its language', async (t) => {
  const locale = ({ server }: { server: FastifyInstance }) =>
    server.settings.get(definitions.title) === 'Deutsch' ? 'de' : 'en'
  const visited = await visit(t, { modules: [plainHost], ui: { locale } })
  if (!visited) return
  const { page, field } = visited
  await openPlain(visited, '<fm-settings page="manage"></fm-settings>')
  const heading = page.getByRole('heading', { level: 1 })
  await shows(t, () => heading.textContent(), 'Settings')
  await field('Title').fill('Deutsch')
  await field('Title').press('Enter')
  await shows(t, () => heading.textContent(), 'Einstellungen')
})
