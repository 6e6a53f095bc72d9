/** `<fm-palette>`: settings and items of the host from any page, by keys. */
import type { Module } from '@fastify-modular/core'
import { shows } from '@fastify-modular/test-support/shows'
import { test } from 'tap'
import { problems } from '../support/axe.js'
import { definitions } from '../support/definitions.js'
import { plainPolicy } from '../support/plain-host.js'
import { leave, phone, visit } from '../support/visit.js'

const script = `
  const palette = document.querySelector('fm-palette')
  palette.items = (query) => query.includes('note')
    ? [{ label: 'Dark chocolate cake', detail: 'Yours', group: 'Notes', href: '/host?note' }, { label: 'New note', run: () => document.body.dataset.made = 'yes' }]
    : []
  document.querySelector('button').addEventListener('click', () => palette.open())`

const host: Module = {
  name: 'host',
  plugin: async (app) => {
    const config = { access: 'public' }
    app.get('/host.js', { config }, (_request, reply) => reply.type('text/javascript').send(script))
    app.get('/host', { config }, (_request, reply) =>
      reply.header('content-security-policy', plainPolicy).type('text/html')
        .send(`<!doctype html><html lang="en">
<title>Host</title><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
<main><h1>Host</h1><button>Search everything</button><fm-palette></fm-palette></main>
<script type="module" src="/settings/assets/palette.js"></script><script type="module" src="/host.js"></script></html>`),
    )
  },
}

test('the palette', async (t) => {
  const visited = await visit(t, { modules: [host] })
  if (!visited) return
  const { page, app, open, url, row, complaints } = visited
  const field = page.getByRole('searchbox')
  const openHost = async (user = 'ada', size?: { width: number; height: number }) => {
    await open('/settings/preferences', user, size && { size })
    await page.goto(`${url}/host`)
    await page.waitForFunction(() => customElements.get('fm-palette'))
  }

  await t.test(
    'it is loaded when it is asked for; values are read then, and are gone when it closes',
    async (t) => {
      await open('/settings/preferences')
      await leave(page)
      const requests: string[] = []
      page.on('request', (request) => requests.push(new URL(request.url()).pathname))
      await page.goto(`${url}/host`)
      await page.waitForFunction(() => customElements.get('fm-palette'))
      t.notOk(requests.some((path) => path.startsWith('/api/') || /assets\/(app|palette-dialog)/.test(path)))
      await page.keyboard.press('Control+k')
      await field.and(page.locator(':focus')).waitFor()
      await field.fill('title')
      await page
        .getByRole('link', { name: /^Title/ })
        .getByText('Fastify Modular')
        .waitFor()
      t.same(await problems(page), [])
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await shows(
        t,
        () => page.locator('fm-palette').evaluate(({ shadowRoot }) => shadowRoot?.textContent),
        '',
      )
    },
  )

  await t.test('a preference is changed in place, with an Undo; keys walk the rows', async (t) => {
    await openHost('vera')
    await page.keyboard.press('Control+k')
    await field.fill('theme')
    await page.getByRole('radiogroup', { name: 'Theme' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowLeft')
    await page.getByText('Theme is dark').first().waitFor()
    const { theme } = definitions
    t.equal((await app.settings.forUser('vera')).get(theme), 'dark')
    t.same(await problems(page), [])
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('radio', { name: 'system', checked: true }).waitFor()
    t.equal((await app.settings.forUser('vera')).get(theme), 'system')
    await page.getByRole('radio', { name: 'system' }).focus()
    await page.keyboard.type('x')
    await shows(t, () => field.inputValue(), 'themex', 'typing goes to the field')
  })

  await t.test('a shared switch opens its page with the draft, which is not saved', async (t) => {
    await openHost()
    await page.keyboard.press('Control+k')
    await field.fill('maintenance')
    await page.getByRole('link', { name: /^Turn on Maintenance mode(?!\?)/ }).click()
    await page.waitForURL('**/settings/manage#setting:system.maintenance')
    await row('system.maintenance').and(page.locator('[data-state=unsaved]')).waitFor()
    t.equal(app.settings.get(definitions.maintenance), false)
    t.notMatch(page.url(), /true|draft/)
    await page.reload()
    await row('system.maintenance').and(page.locator('[data-state=default]')).waitFor()
  })

  await t.test('items of the host stand below, and lead on or run', async (t) => {
    await openHost('ada', phone)
    await page.getByRole('button', { name: 'Search everything' }).click()
    await field.fill('note')
    const note = page.getByRole('link', { name: /^Dark chocolate cake/ })
    await shows(t, () => note.getAttribute('href'), '/host?note')
    t.same(await problems(page), [])
    await shows(t, () => page.evaluate(() => document.documentElement.scrollWidth), phone.width)
    await page.getByRole('button', { name: 'New note' }).click()
    await page.locator('body[data-made=yes]').waitFor()
    await shows(t, () => page.getByRole('dialog').count(), 0)
  })

  await t.test('in Arabic texts stand beside their icons, whatever their own direction', async (t) => {
    await open('/settings/preferences', 'ada', { language: 'ar' })
    await page.goto(`${url}/host`)
    await page.waitForFunction(() => customElements.get('fm-palette'))
    await page.keyboard.press('Control+k')
    await field.fill('title')
    const name = page
      .getByRole('link', { name: /^Title/ })
      .locator('bdi')
      .first()
    await shows(t, () => name.evaluate((text) => getComputedStyle(text).textAlign), 'right')
    t.same(await problems(page), [])
  })

  await t.test('a secret shows no value, and its page opens', async (t) => {
    await openHost()
    await app.settings.set('mail.password', 'hushhush')
    await page.keyboard.press('Control+k')
    await field.fill('smtp password')
    const link = page.getByRole('link', { name: /^SMTP password/ })
    await shows(t, () => link.getAttribute('href'), /\/settings\/manage#setting:mail\.password$/)
    t.notMatch(await link.textContent(), /hush/)
  })
  t.same(complaints, [])
})
