/** The pages in the look of their host. */
import { SettingScope } from '@fastify-modular/settings'
import { shows } from '@fastify-modular/test-support/shows'
import { accentShades } from '@fastify-modular/settings-ui'
import { test } from 'tap'
import { languages } from '#src/texts/texts.js'
import { problems } from '../support/axe.js'
import { definitions } from '../support/definitions.js'
import { phone, visit } from '../support/visit.js'

test("the look of the host's", async (t) => {
  const visited = await visit(t, {
    ui: {
      title: ({ caller }) => `Notes of ${caller?.name ?? ''}`,
      logo: 'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg"/%3E',
      links: [
        { label: 'Notes', href: '/notes' },
        { label: 'Mail', href: '/mail' },
      ],
      theme: async ({ server, caller }) => ({
        scheme:
          String(
            await server.settings.contract.getSettingAs('user.theme', SettingScope.User, caller?.id ?? ''),
          ) === 'dark'
            ? 'dark'
            : 'auto',
        tokens: { accent: 'light-dark(#b91c1c, #fca5a5)', radius: '4px' },
        setting: 'user.theme',
      }),
    },
  })
  if (!visited) return
  const { page, open, row, complaints } = visited
  const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)

  await t.test('the accent of the request colours links and buttons; nothing is refused', async (t) => {
    await open('/settings/manage')
    await page.getByLabel('Title', { exact: true }).fill('Draft')
    const save = page.getByRole('button', { name: /^Save \d/ })
    await shows(
      t,
      () => save.evaluate((element) => getComputedStyle(element).backgroundColor),
      'rgb(185, 28, 28)',
    )
    t.same(await problems(page), [])
    t.same(complaints, [])
  })

  await t.test('links stand in the header, on a phone in its menu', async (t) => {
    await open('/settings/preferences')
    const notes = page.getByRole('link', { name: 'Notes', exact: true })
    await shows(t, () => notes.count(), 1)
    await page.setViewportSize(phone)
    await shows(t, () => notes.count(), 0)
    await page.getByRole('button', { name: 'Your account' }).click()
    await shows(t, () => notes.getAttribute('href'), '../notes')
    t.same(await problems(page), [])
  })

  await t.test(
    'F-08: the page follows the setting that chooses the theme, at once and from the start',
    async (t) => {
      await open('/settings/preferences', 'vera')
      await shows(t, background, 'rgb(247, 247, 249)')
      await row('user.theme').getByRole('radio', { name: 'dark' }).check()
      await row('user.theme').getByText('Saved', { exact: true }).waitFor()
      await shows(t, background, 'rgb(12, 13, 16)')
      await page.getByRole('button', { name: 'Your account' }).click()
      t.equal(await page.locator('[name=fm-scheme]').count(), 0, 'one control for the theme')
      await page.goto(new URL('/settings/manage', page.url()).href)
      await row('system.maintenance').or(page.locator('main form')).first().waitFor()
      t.equal(await background(), 'rgb(12, 13, 16)', 'from the first frame, on every page')
    },
  )
})

test('the setting that chooses the scheme goes on doing so after a save, where the server names none', async (t) => {
  const visited = await visit(t, { ui: { theme: { setting: 'user.theme' } } })
  if (!visited) return
  const { page, open, row } = visited
  await open('/settings/preferences', 'vera')
  const again = page.waitForResponse((response) => response.request().resourceType() === 'xhr')
  await row('user.theme').getByRole('radio', { name: 'dark' }).check()
  await (await again).finished()
  await row('user.theme').getByText('Saved', { exact: true }).waitFor()
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))))
  t.equal(await page.locator('html').getAttribute('data-theme'), 'dark')
})

test('what a save changes around the page is taken over, also where the new styles cannot be loaded', async (t) => {
  const visited = await visit(t, {
    ui: {
      title: ({ server }) => server.settings.get(definitions.title),
      theme: ({ server }) => ({
        tokens: { accent: accentShades(server.settings.get(definitions.color)).token },
      }),
    },
  })
  if (!visited) return
  const { page, open, field, save } = visited
  const title = page.locator('.fm-brand span')
  const accent = () =>
    page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--fm-accent'))
  const sheets = () => page.locator('link[rel=stylesheet]').count()
  await open('/settings/manage?only=application')
  const [before, count] = [await accent(), await sheets()]
  await page.route('**/theme.css?*', (route) => route.abort())
  for (const text of ['First', 'Second']) {
    await field('Title').fill(text)
    await field('Accent colour').fill(text === 'First' ? '#c8632b' : '#0b6e4f')
    await save.click()
    await title.and(page.getByText(text, { exact: true })).waitFor()
    await shows(t, () => page.title(), `Settings · ${text}`)
    t.equal(await sheets(), count)
    t.equal(await accent(), before)
  }
  await page.unroute('**/theme.css?*')
  await field('Title').fill('Third')
  await save.click()
  await title.and(page.getByText('Third', { exact: true })).waitFor()
  t.equal(await sheets(), count)
  await shows(t, accent, accentShades('#0b6e4f').token)
})

test('each language fits on a phone; Arabic runs from right to left', async (t) => {
  const visited = await visit(t)
  if (!visited) return
  const { page, open, complaints } = visited
  for (const [language, texts] of Object.entries(languages)) {
    await t.test(language, async (t) => {
      for (const [path, heading] of [
        ['/settings/preferences', texts.preferences],
        ['/settings/manage?group=mail', texts.manage],
      ] as const) {
        await open(path, 'ada', { size: phone, language })
        await page.getByRole('heading', { level: 1, name: heading }).waitFor()
        if (path.startsWith('/settings/manage')) {
          await page.getByLabel('SMTP port', { exact: true }).fill('0')
          await page.locator('.fm-bar [type=submit]').click()
          await page.getByRole('button', { name: texts.next, exact: true }).waitFor()
        }
        const width = await page.evaluate(() => document.documentElement.scrollWidth)
        t.equal(width, 390, `${path} is as wide as the window`)
      }
      const cut = await page
        .locator('button:visible, a:visible')
        .evaluateAll((all) =>
          all
            .filter((each) => each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 1)
            .map((each) => each.textContent),
        )
      t.same(cut, [], 'no text of a button is cut off')
      await shows(t, () => page.evaluate(() => document.dir), language === 'ar' ? 'rtl' : 'ltr')
      if (language === 'ar' || language === 'de') t.same(await problems(page), [])
    })
  }
  t.same(complaints, [])
})
