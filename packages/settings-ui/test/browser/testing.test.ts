/** *Test* at a group: what is entered is tried, and the answer stands in the bar. */
import { type Test, test } from 'tap'
import { until } from '@fastify-modular/test-support/until'
import { shows } from '@fastify-modular/test-support/shows'
import { problems } from '../support/axe.js'
import { definitions } from '../support/definitions.js'
import { createMailer } from '../support/mailer.js'
import { phone, visit } from '../support/visit.js'

const mail = '/settings/manage?group=mail'

/** The page of the mail settings. */
async function visitMail(t: Test) {
  const mailer = createMailer()
  const visited = await visit(t, { modules: [mailer.module] })
  if (!visited) return null
  const { page } = visited
  const run = page.getByRole('button', { name: 'Test', exact: true })
  const isFocused = (name: string) =>
    page.getByRole('button', { name, exact: true }).evaluate((button) => button === document.activeElement)
  return { ...visited, mailer, run, isFocused }
}

test('what is entered is tested, and nothing is saved', async (t) => {
  const visited = await visitMail(t)
  if (!visited) return
  const { page, app, open, field, bar, status, run, writes, isFocused, complaints } = visited
  await open(mail)
  await field('SMTP host').fill('smtp.acme.example')
  await field('SMTP port').fill('25')
  await run.press('Enter')
  await bar.getByText('Connected to smtp.acme.example:25 in 40 ms').waitFor()
  await bar.getByText('With your 2 changes. Nothing is saved yet.').waitFor()
  await status.getByText('Connected to smtp.acme.example:25 in 40 ms').waitFor({ state: 'attached' })
  await shows(t, () => isFocused('Test'), true)
  t.same(
    writes.map((request) => [new URL(request.url()).pathname, request.postDataJSON()]),
    [['/api/settings/resources/mail/probe', { 'mail.host': 'smtp.acme.example', 'mail.port': 25 }]],
  )
  t.equal(app.settings.status.revision, 0)
  t.same(await problems(page), [])

  await field('SMTP port').fill('26')
  await bar.getByText('2 unsaved changes').waitFor()
  await shows(t, () => bar.getByText('Connected').count(), 0, 'the next edit takes the answer away')

  await field('SMTP host').fill('refused')
  await run.click()
  await bar.getByText('The mail server refused the sign-in.').waitFor()
  await bar.getByText('Nothing was saved.').waitFor()
  t.same(await problems(page), [])

  await field('SMTP host').fill('broken')
  await run.click()
  await bar.getByText('The test failed.').waitFor()
  await shows(t, () => bar.textContent(), /Reference \u2068?req-/)
  t.notMatch(await page.content(), 'A secret of the network.')

  await field('SMTP host').fill('silent')
  await run.click()
  await bar.getByText('Mail works.').waitFor()

  await field('SMTP port').fill('0')
  writes.length = 0
  await run.click()
  await bar.getByText('1 needs attention').waitFor()
  t.equal(writes.length, 0, 'what means nothing is not sent')
  t.same(complaints, [])
})

test('a test that runs says so, and Stop, an edit or a save ends it', async (t) => {
  const visited = await visitMail(t)
  if (!visited) return
  const { page, open, field, bar, status, mailer, run, isFocused } = visited
  await open(mail)
  await field('SMTP host').fill('slow')
  await run.click()
  await bar.getByText('Testing Mail with your change…').waitFor()
  await status.getByText('Testing Mail with your change…').waitFor({ state: 'attached' })
  const running = page.getByRole('button', { name: 'Testing…' })
  await shows(t, () => running.getAttribute('aria-disabled'), 'true')
  await shows(t, () => isFocused('Testing…'), true)
  await running.press('Enter')
  await until(() => mailer.running() === 1)
  t.same(await problems(page), [])
  await bar.getByRole('button', { name: 'Stop' }).click()
  await run.waitFor()
  await until(() => mailer.running() === 0)

  await until(async () => {
    await run.click()
    await bar.getByText(/Testing|too many/).waitFor()
    return mailer.running() === 1
  })
  await field('SMTP host').fill('other')
  await until(() => mailer.running() === 0)
  await bar.getByText('1 unsaved change').waitFor()
  t.equal(await bar.getByText('Connected').count(), 0)
})

test('a stored secret is asked for again at its field', async (t) => {
  const visited = await visitMail(t)
  if (!visited) return
  const { page, app, open, reload, row, field, bar, run, save } = visited
  await open(mail)
  await app.settings.set('mail.password', 'hush')
  await reload()
  await run.click()
  await bar.getByText('Connected to null:587 in 40 ms').waitFor()
  t.equal(await bar.getByText('Nothing is saved yet').count(), 0, 'nothing was entered')

  await field('SMTP host').fill('smtp.acme.example')
  await run.click()
  const password = row('mail.password').and(page.locator('[data-state=invalid]'))
  await password.getByText('Enter the password again to test other values.').waitFor()
  await bar.getByText('1 needs attention').waitFor()
  await bar.getByText('1 unsaved change').waitFor()
  const input = row('mail.password').locator('input')
  await input.and(page.locator(':focus')).waitFor()
  await shows(t, () => input.getAttribute('aria-invalid'), 'true')
  await shows(t, () => input.getAttribute('aria-describedby'), /-e$/)
  t.same(await problems(page), [])
  await page.keyboard.type('again')
  await shows(t, () => password.count(), 0)
  await run.click()
  await bar.getByText('With your 2 changes.').waitFor()

  await row('mail.password')
    .getByRole('button', { name: /^Undo the change/ })
    .click()
  await run.click()
  await password.waitFor()
  await save.click()
  await bar.getByText('1 setting saved').waitFor()
  t.equal(app.settings.get(definitions.password), 'hush', 'what was asked for is no change')
})

test('rules, limits and failures of the network', async (t) => {
  const visited = await visitMail(t)
  if (!visited) return
  const { page, open, field, bar, run, browser } = visited
  await open(mail)
  const answer = (status: number, body: object, headers = {}) =>
    page.route('**/probe', (route) =>
      route.fulfill({ status, contentType: 'application/problem+json', headers, body: JSON.stringify(body) }),
    )
  const again = async () => {
    await page.unroute('**/probe')
    await field('SMTP host').fill(String(Math.random()))
  }
  await again()
  await answer(422, { errors: { 'mail.host': ['Not this one.'], 'mail.port': ['It belongs to the host.'] } })
  await run.click()
  await page.locator('[data-key="mail.host"]').getByText('Not this one.').waitFor()
  await page.locator('[data-key="mail.port"]').getByText('It belongs to the host.').waitFor()
  await bar.getByText('2 need attention').waitFor()
  await again()
  await page.locator('.fm-note').waitFor({ state: 'detached' })
  await answer(429, { detail: 'Too often.' }, { 'retry-after': '240' })
  await run.click()
  await bar.getByText('There were too many tests. Try again in 4 minutes.').waitFor()
  await again()
  await answer(503, { detail: 'x', requestId: 'req-77' })
  await run.click()
  await bar.getByText('The server could not complete the request. ').waitFor()
  await shows(t, () => bar.textContent(), /req-77/)
  await again()
  await page.route('**/probe', (route) => route.abort())
  await run.click()
  await bar.getByText('The server does not answer.').waitFor()
  await again()
  await browser.clearCookies()
  await run.click()
  await bar.getByText('Sign in again to save').waitFor()
})

test('only callers who may write all of it see it, and only where the settings are named', async (t) => {
  const visited = await visitMail(t)
  if (!visited) return
  const { page, open, run } = visited
  for (const user of ['eve', 'vera']) {
    await open(mail, user)
    await page.getByRole('heading', { name: 'Mail', level: 2 }).waitFor()
    t.equal(await run.count(), 0, user)
  }
  await open('/settings/manage?group=contact')
  t.equal(await run.count(), 0)
  await open('/settings/manage?q=smtp')
  t.equal(await run.count(), 0)
})

test('in other languages, right to left, and on a phone', async (t) => {
  const visited = await visitMail(t)
  if (!visited) return
  const { page, open, bar } = visited
  const looks = [
    { language: 'de', size: phone, name: 'Testen', answer: 'Connected to null:587 in 40 ms' },
    { language: 'ar', size: phone, name: 'اختبار', answer: 'Connected to null:587 in 40 ms' },
  ] as const
  for (const { language, size, name, answer } of looks) {
    await open(mail, 'ada', { language, size, colorScheme: 'dark' })
    await page.getByRole('button', { name, exact: true }).click()
    await bar.getByText(answer).waitFor()
    const over = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    )
    t.equal(over, 0, language)
    t.same(await problems(page), [], language)
  }
})
