/** Swagger UI at `/api/docs`: operations are found and tried, under a policy as strict as that of every other page. */
import { test } from 'tap'
import { testBrowser } from '@fastify-modular/test-support/browser'
import { shows } from '@fastify-modular/test-support/shows'
import { startHost } from '../host.js'

test('F-42: every operation is on the page, and one can be tried with the session of the browser', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const host = await startHost(t)
  const alice = await host.signIn('alice')
  await alice.enter(browser)
  const page = await browser.newPage()
  const complaints: string[] = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  const answer = await page.goto(`${host.url}/api/docs`)
  const policy = answer?.headers()['content-security-policy'] ?? ''
  t.match(policy, "style-src 'self'; ")
  t.notMatch(policy, 'unsafe')

  const { paths } = (await host.anonymous.ask('/openapi.json')).json
  const summaries = Object.values<Record<string, { summary: string }>>(paths)
    .flatMap((methods) => Object.values(methods))
    .map(({ summary }) => summary)
  await page.locator('.opblock-tag').first().waitFor()
  t.equal(
    await page.locator('#swagger-ui').getAttribute('lang'),
    'en',
    'for those who read the pages in German',
  )
  for (const group of await page.locator('.opblock-tag').all()) await group.click()
  await page.getByText('Add a note', { exact: true }).waitFor()
  const shown = await page.locator('.opblock-summary-description').allTextContents()
  t.same(shown.toSorted(), summaries.toSorted())

  await page.getByText('Add a note', { exact: true }).click()
  await page.getByRole('button', { name: 'Try it out' }).click()
  await page.locator('textarea.body-param__text').fill('{"title":"<img src=x>"}')
  await page.getByRole('button', { name: 'Execute' }).click()
  await page.locator('.live-responses-table .response-col_status', { hasText: '201' }).waitFor()
  await shows(t, () => page.locator('.live-responses-table').textContent(), /<img src=x>/)
  t.equal(await page.locator('.live-responses-table img').count(), 0)
  t.match((await alice.ask('/api/notes')).json, [{ title: '<img src=x>' }])
  t.same(complaints, [])
})
