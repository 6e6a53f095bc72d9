import Database from 'better-sqlite3'
import { test, type Test } from 'tap'
import { testBrowser } from '@fastify-modular/test-support/browser'
import { until } from '@fastify-modular/test-support/until'
import { violationsOf } from './axe.js'
import { databaseWithAccounts, type Host, startHost } from './host.js'

/** A host with two dead letters of the handler that writes mail, as if its last attempt had failed. */
async function hostWithDeadLetters(t: Test): Promise<Host> {
  const { file, DATABASE_URL } = await databaseWithAccounts(t)
  const host = await startHost(t, { DATABASE_URL })
  const database = new Database(file)
  const addEvent = database.prepare(
    `INSERT INTO event_outbox (id, event_id, type, payload, published_at) VALUES (?, ?, 'notes.shared', ?, 1)`,
  )
  const addDeadLetter = database.prepare(
    `INSERT INTO event_delivery (event, handler, attempts, due_at, dead_at, error)
     VALUES (?, 'mail.ShareMailHandler', 8, 1, ?, 'Error: the mail server is away')`,
  )
  for (const number of [101, 102]) {
    const payload = { noteId: `n${number}`, title: `Note ${number}`, owner: 'alice' }
    addEvent.run(number, `event-${number}`, JSON.stringify(payload))
    addDeadLetter.run(number, Date.UTC(2026, 0, 1) + number)
  }
  database.close()
  return host
}

test('administrators list, retry and drop dead letters', async (t) => {
  const host = await hostWithDeadLetters(t)
  const admin = await host.signIn('admin')
  const letters = async () => (await admin.ask('/api/dead-letters')).json as { id: string }[]
  const [first, second] = await letters()
  t.match(first, {
    type: 'notes.shared',
    handler: 'mail.ShareMailHandler',
    attempts: 8,
    error: 'Error: the mail server is away',
    failedAt: '2026-01-01T00:00:00.101Z',
  })
  const path = (letter = first) => `/api/dead-letters/${encodeURIComponent(letter?.id ?? '')}`
  t.equal((await admin.ask(`${path()}/retry`, { method: 'POST' })).status, 204)
  t.equal((await admin.ask(path(second), { method: 'DELETE' })).status, 204)
  t.same(await letters(), [])
  t.equal((await admin.ask(`${path()}/retry`, { method: 'POST' })).status, 404)
  t.equal((await admin.ask(path(second), { method: 'DELETE' })).status, 404)

  const mails = async () => (await admin.ask('/api/mails')).json as { recipient: string }[]
  await until(async () => (await mails()).length > 0)
  t.match(await mails(), [{ recipient: 'alice', subject: /Note 101/ }], 'the retried one was handled')
})

test('dead letters are for administrators only', async (t) => {
  const host = await hostWithDeadLetters(t)
  const alice = await host.signIn('alice')
  for (const [method, path] of [
    ['GET', '/dead-letters'],
    ['GET', '/api/dead-letters'],
    ['POST', '/api/dead-letters/101:mail.ShareMailHandler/retry'],
    ['DELETE', '/api/dead-letters/101:mail.ShareMailHandler'],
  ] as const) {
    t.equal((await alice.ask(path, { method })).status, 403, `${method} ${path}`)
    t.equal((await host.anonymous.ask(path, { method })).status, 401, `${method} ${path}`)
  }
  t.equal(
    (await (await host.signIn('admin')).ask('/api/dead-letters')).json.length,
    2,
    'both are still there',
  )
})

test('the page of dead letters: axe-core finds nothing, and its buttons retry and drop', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const host = await hostWithDeadLetters(t)
  const [name = '', value = ''] = (await host.signIn('admin')).cookie.split('=')
  await browser.addCookies([{ name, value, url: host.url }])
  const page = await browser.newPage()
  await page.goto(`${host.url}/mails`)
  await page.getByRole('link', { name: '2 events could not be handled' }).click()
  await page.waitForURL(`${host.url}/dead-letters`)
  const letters = page.locator('.dead-letter')
  await letters.nth(1).waitFor()
  for (const { colorScheme, width } of [
    { colorScheme: 'light', width: 1100 },
    { colorScheme: 'dark', width: 320 },
  ] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.setViewportSize({ width, height: 800 })
    t.same(await violationsOf(page), [], `${colorScheme}, ${width} px`)
  }
  await page.getByText('Error: the mail server is away').first().waitFor()
  await letters.first().getByRole('button', { name: 'Drop' }).click()
  await letters.nth(1).waitFor({ state: 'detached' })
  await letters.first().getByRole('button', { name: 'Retry' }).click()
  await page.getByText('There are no dead letters.').waitFor()
})
