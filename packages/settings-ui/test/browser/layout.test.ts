/** The pages in a document of the host's, whose header, styles and policy are around them (`layout`). */
import { test } from 'tap'
import { problems } from '../support/axe.js'
import { boxOf } from '../support/looks.js'
import { phone, visit } from '../support/visit.js'
import { shows } from '@fastify-modular/test-support/shows'

test('a page in a layout of the host', async (t) => {
  const visited = await visit(t, {
    ui: {
      preview: { 'app.title': 'title' },
      layout: (_request, { title, head, body, locale, direction, scheme }) => `<!doctype html>
<html lang="${locale}" dir="${direction}" data-theme="${scheme}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>
  body { margin: 0; font: 20px serif; }
  .host { position: sticky; top: 0; z-index: 1; padding: 14px; background: #222; }
  .host a { color: #fff; }
</style>
${head}
</head>
<body>
<header class="host"><a href="/start">The host</a></header>
<main>${body}</main>
<footer><p>Imprint</p></footer>
</body>
</html>`,
    },
  })
  if (!visited) return
  const { page, open, row, complaints } = visited
  const port = page.getByLabel('SMTP port', { exact: true })
  const width = () => page.evaluate(() => document.documentElement.scrollWidth)

  await t.test(
    'axe finds nothing, light and dark, and the browser has nothing to complain about',
    async (t) => {
      for (const colorScheme of ['light', 'dark'] as const) {
        for (const path of ['/settings/manage?group=mail', '/settings/preferences']) {
          await open(path, 'ada', { colorScheme })
          t.same(await problems(page), [], `${path}, ${colorScheme}`)
          t.same(complaints, [])
        }
      }
    },
  )

  await t.test(
    'what Tab stops at is between the header of the host and the bar, never behind one',
    async (t) => {
      await open('/settings/manage?only=application', 'ada', { size: { width: 1280, height: 420 } })
      await page.getByLabel('Title', { exact: true }).fill('Draft')
      const header = await boxOf(page.locator('.host'))
      const hidden: string[] = []
      for (let stop = 0; stop < 60; stop++) {
        await page.keyboard.press('Tab')
        const bar = await boxOf(page.locator('.fm-bar'))
        const covered = await page.evaluate(
          ([top, bottom]) => {
            const focused = document.activeElement
            if (!focused || focused.closest('.host, .fm-bar, body:focus')) return ''
            const box = focused.getBoundingClientRect()
            const name = focused.getAttribute('aria-label') ?? focused.id
            return box.bottom <= Number(top) || box.top >= Number(bottom) ? name : ''
          },
          [header.height, bar.y],
        )
        if (covered !== '') hidden.push(covered)
      }
      t.same(hidden, [])
    },
  )

  await t.test('with all that may stand in it, the bar is one line', async (t) => {
    for (const language of ['en', 'de', 'ar']) {
      await open('/settings/manage', 'ada', { size: { width: 1440, height: 900 }, language })
      const title = row('app.title').locator('input')
      await title.fill('Draft')
      await page.locator('.fm-bar > .fm-try').waitFor()
      await title.fill('<Draft>')
      await title.blur()
      await page.locator('.fm-bar > .fm-attention').waitFor()
      await shows(t, () => page.locator('.fm-bar > .fm-try').isVisible(), true)
      const { height } = await boxOf(page.locator('.fm-bar'))
      t.ok(height < 60, `${language}: ${height}`)
    }
  })

  await t.test('a link to a setting brings its row into the middle, below the header', async (t) => {
    await open('/settings/manage#setting:mail.port')
    await row('mail.port').and(page.locator('[data-found]')).waitFor()
    await page.locator('[data-key="mail.port"] input:focus').waitFor()
    const { y, height } = await boxOf(row('mail.port'))
    t.ok(y > 60 && y + height < 800)
  })

  await t.test(
    'at 390 px nothing is wider than the window; the bar and its dialog are at its edge',
    async (t) => {
      await open('/settings/manage?group=mail', 'ada', { size: phone })
      await port.fill('0')
      await port.press('Enter')
      await page.getByRole('button', { name: '1 needs attention', exact: true }).waitFor()
      t.equal(await width(), 390)
      const bar = await boxOf(page.locator('.fm-bar'))
      t.same([bar.x, bar.width], [0, 390])
      t.same(await problems(page), [])
      await page.getByRole('button', { name: 'Review' }).click()
      const dialog = await boxOf(page.getByRole('dialog'))
      t.same([dialog.x, dialog.width, dialog.y + dialog.height], [0, 390, 844])
      t.same(await problems(page), [])
    },
  )
})
