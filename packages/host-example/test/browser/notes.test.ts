/** Notes, with the keyboard and for people who hear what happens. */
import { testBrowser } from '@fastify-modular/test-support/browser'
import { shows } from '@fastify-modular/test-support/shows'
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
  /** A key is pressed in vain where the client has not taken over what the server has drawn; a click waits. */
  const ready = async (load: () => Promise<unknown>) => {
    await load()
    await page.locator('#new-note:enabled').waitFor()
  }
  await ready(() => page.goto(`${host.url}/notes`))
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
      await shows(t, list, ['<b>First</b>', 'Second', 'Third'])
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
    await shows(t, list, ['First', 'Second', 'Third'])
  })

  await t.test(
    'what the server refuses is said beside its field, and nothing that was typed is lost',
    async (t) => {
      await page.getByRole('button', { name: 'New note' }).click()
      const dialog = page.getByRole('dialog', { name: 'New note' })
      await dialog.getByLabel('Title').fill('   ')
      await dialog.getByLabel('Text').fill('A long text')
      await dialog.getByRole('button', { name: 'Add note' }).click()
      await dialog.getByRole('alert').getByText('Enter a title.').waitFor()
      const title = dialog.getByLabel('Title')
      await shows(t, () => title.getAttribute('aria-invalid'), 'true')
      t.equal(
        await title.getAttribute('aria-describedby'),
        await dialog.getByRole('alert').getAttribute('id'),
      )
      await shows(t, () => dialog.getByLabel('Text').inputValue(), 'A long text')
      t.equal(new URL(page.url()).pathname, '/notes')
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
    },
  )

  await t.test('a note that changed meanwhile is not overwritten, and what was typed stays', async (t) => {
    const [first] = (await alice.ask('/api/notes')).json
    await note('First').click()
    await alice.ask(`/api/notes/${first.id}`, { method: 'PATCH', body: { body: 'By somebody else' } })
    await page.getByLabel('Text').fill('By me')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').getByText('The note was changed meanwhile.').waitFor()
    await shows(t, () => page.getByLabel('Text').inputValue(), 'By me')
    t.equal((await alice.ask(`/api/notes/${first.id}`)).json.body, 'By somebody else')
    await page.keyboard.press('Escape')
    await focused('First')
  })

  await t.test('while the server cannot be reached the dialog says so', async (t) => {
    await page.getByRole('button', { name: 'New note' }).click()
    await page.getByLabel('Title').fill('Kept')
    await page.route('**/notes', (route) => route.abort())
    await page.getByRole('button', { name: 'Add note' }).click()
    await page.getByRole('alert').getByText('The server cannot be reached').waitFor()
    await shows(t, () => page.getByLabel('Title').inputValue(), 'Kept')
    await page.unroute('**/notes')
    await page.keyboard.press('Escape')
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
      await shows(t, list, ['First', 'Third'])
      t.equal((await host.anonymous.ask(link)).status, 404)
      await page.getByRole('button', { name: 'Undo' }).click()
      await announced('Brought “Second” back')
      await focused('Second')
      await shows(t, list, ['First', 'Second', 'Third'])
      t.equal((await host.anonymous.ask(link)).json.title, 'Second')
    },
  )

  await t.test('after the last note the focus is on the button for a new one', async (t) => {
    for (const title of ['First', 'Second', 'Third']) {
      await page.getByRole('button', { name: `Remove ${title}`, exact: true }).click()
      await announced(`Removed “${title}”`)
    }
    await focused('New note')
    await shows(t, () => page.getByText('No notes yet.').isVisible(), true)
  })

  await t.test('a failure is announced, and the note stays', async (t) => {
    await alice.ask('/api/notes', { method: 'POST', body: { title: 'Kept' } })
    await ready(() => page.reload())
    await page.route('**/api/notes/*', (route) => route.abort())
    await page.getByRole('button', { name: 'Remove Kept' }).click()
    await announced('The server cannot be reached')
    await shows(t, list, ['Kept'])
  })
})

test('until the client has taken the page over, what needs it is disabled, and forms and links work', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const host = await startHost(t)
  const alice = await host.signIn('alice')
  await alice.ask('/api/notes', { method: 'POST', body: { title: 'Bread' } })
  await alice.enter(browser)
  const page = await browser.newPage()
  let release = (): void => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  await page.route('**/static/client-*.js', async (route) => {
    await held
    await route.continue()
  })
  await page.goto(`${host.url}/notes`, { waitUntil: 'commit' })
  for (const name of ['New note', 'Bread', 'Share Bread', 'Remove Bread'])
    await shows(t, () => page.getByRole('button', { name, exact: true }).isDisabled(), true, name)
  await page.getByRole('searchbox').fill('milk')
  await page.getByRole('searchbox').press('Enter')
  await page.getByText('No note contains “milk”.').waitFor()
  await page.getByRole('link', { name: 'Show all notes' }).click()
  const clicked = page.getByRole('button', { name: 'New note' }).click()
  release()
  await clicked
  await page.getByRole('dialog', { name: 'New note' }).waitFor()

  await page.goto('about:blank')
  await page.context().clearCookies()
  await page.unroute('**/static/client-*.js')
  await page.route('**/static/client-*.js', (route) => route.abort())
  await page.goto(host.url, { waitUntil: 'domcontentloaded' })
  for (const label of ['Title', 'Teal', 'Banner'])
    await shows(t, () => page.getByLabel(label).isDisabled(), true, label)
})
