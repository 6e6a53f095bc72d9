import Database from 'better-sqlite3'
import { test, type Test } from 'tap'
import { testBrowser } from '@fastify-modular/test-support/browser'
import { until } from '@fastify-modular/test-support/until'
import { violationsOf } from './axe.js'
import { commandLine, databaseWithAccounts, startHost } from './host.js'

/** A host with two dead letters of the handler that writes mail, as if its last attempt had failed. */
async function hostWithDeadLetters(t: Test) {
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
  return { host, command: commandLine(DATABASE_URL) }
}

test('mail says how many events could not be handled, and the command line has one delivered again', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const { host, command } = await hostWithDeadLetters(t)
  await (await host.signIn('admin')).enter(browser)
  const page = await browser.newPage()
  await page.goto(`${host.url}/mails`)
  await page.getByText('2 events could not be handled').waitFor()
  for (const { colorScheme, width } of [
    { colorScheme: 'light', width: 1100 },
    { colorScheme: 'dark', width: 320 },
  ] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.setViewportSize({ width, height: 800 })
    t.same(await violationsOf(page), [], `${colorScheme}, ${width} px`)
  }
  const shown = await page.getByText(/^npx fastify-modular /).textContent()
  const list = await command(shown?.replace('npx fastify-modular ', '') ?? '')
  t.match(list, {
    code: 0,
    log: /^101:mail\.ShareMailHandler .*2026-01-01T00:00:00\.101Z +Error: the mail server is away$/m,
  })
  t.match(await command('events dead-letters replay 101:mail.ShareMailHandler'), { code: 0 })
  t.match(await command('events dead-letters discard 102:mail.ShareMailHandler'), { code: 0 })
  await until(async () => {
    await page.reload()
    return (await page.getByText('Note 101').count()) > 0
  })
  t.equal(await page.getByText(/could not be handled/).count(), 0)
})
