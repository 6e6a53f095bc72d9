/** Notes, with the keyboard and for people who hear what happens. */
import { testBrowser } from '@fastify-modular/test-support/browser'
import { test } from 'tap'
import { startHost } from '../host.js'

test('F-41: notes are written, changed, shared, removed and brought back; focus and announcements follow', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const host = await startHost(t)
  const alice = await host.signIn('alice')
  for (const title of ['Third', 'Second']) await alice.ask('/api/notes', { method: 'POST', body: { title } })
  await alice.enter(browser)
  const page = await browser.newPage()
  await page.goto(`${host.url}/notes`)
  const note = (title: string) => page.getByRole('button', { name: title, exact: true })
  const announced = (text: string) =>
    page.getByRole('status').filter({ hasText: text }).waitFor({ state: 'attached' })
  const focused = (title: string) =>
    page.getByRole('button', { name: title, exact: true }).and(page.locator(':focus')).waitFor()
  const list = () => page.getByRole('main').getByRole('heading', { level: 2 }).allTextContents()

  await t.test(
    'the list comes first; a new note is written in a dialog and has the focus then',
    async (t) => {
      await note('Second').waitFor()
      t.equal(await page.getByRole('textbox').count(), 0, 'nothing but the search waits for text')
      await page.getByRole('button', { name: 'New note' }).press('Enter')
      await page.getByRole('dialog', { name: 'New note' }).waitFor()
      await page.keyboard.type('<b>First</b>')
      await page.keyboard.press('Enter')
      await announced('Added “<b>First</b>”')
      await focused('<b>First</b>')
      t.same(await list(), ['<b>First</b>', 'Second', 'Third'])
    },
  )

  await t.test('a note is changed; Escape leaves it as it was', async (t) => {
    await page.keyboard.press('Enter')
    await page.getByLabel('Title').fill('First')
    await page.getByRole('button', { name: 'Save' }).click()
    await announced('Saved “First”')
    await focused('First')
    await page.keyboard.press('Enter')
    await page.getByLabel('Title').fill('Other')
    await page.keyboard.press('Escape')
    await focused('First')
    t.same(await list(), ['First', 'Second', 'Third'])
  })

  await t.test('a shared note has a public link that needs no session', async (t) => {
    await page.getByRole('button', { name: 'Share Second' }).click()
    await announced('Everyone with the link can read “Second” now')
    const link = await page.getByRole('link', { name: 'Public link of Second' }).getAttribute('href')
    t.equal((await host.anonymous.ask(link ?? '')).json.title, 'Second')
  })

  await t.test(
    'Undo brings a removed note back with its link; the next note has had the focus',
    async (t) => {
      const link =
        (await page.getByRole('link', { name: 'Public link of Second' }).getAttribute('href')) ?? ''
      await page.getByRole('button', { name: 'Remove Second' }).click()
      await announced('Removed “Second”')
      await focused('Third')
      t.same(await list(), ['First', 'Third'])
      t.equal((await host.anonymous.ask(link)).status, 404)
      await page.getByRole('button', { name: 'Undo' }).click()
      await announced('Brought “Second” back')
      await focused('Second')
      t.same(await list(), ['First', 'Second', 'Third'])
      t.equal((await host.anonymous.ask(link)).json.title, 'Second')
    },
  )

  await t.test('after the last note the focus is on the button for a new one', async (t) => {
    for (const title of ['First', 'Second', 'Third']) {
      await page.getByRole('button', { name: `Remove ${title}`, exact: true }).click()
      await announced(`Removed “${title}”`)
    }
    await focused('New note')
    t.ok(await page.getByText('No notes yet.').isVisible())
  })

  await t.test('a failure is announced, and the note stays', async (t) => {
    await alice.ask('/api/notes', { method: 'POST', body: { title: 'Kept' } })
    await page.reload()
    await page.route('**/api/notes/*', (route) => route.abort())
    await page.getByRole('button', { name: 'Remove Kept' }).click()
    await announced('The server cannot be reached')
    t.same(await list(), ['Kept'])
  })
})
