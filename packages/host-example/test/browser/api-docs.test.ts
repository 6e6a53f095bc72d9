/** The page of the API: complete without a script, comfortable with it. */
import { test } from 'tap'
import { testBrowser } from '@fastify-modular/test-support/browser'
import { startHost } from '../host.js'

test('F-42: the page names every operation, its parameters, body and answers, without JavaScript', async (t) => {
  const host = await startHost(t)
  const { text, status } = await host.anonymous.ask('/api/docs')
  t.equal(status, 200, 'public, as before')
  const { paths } = (await host.anonymous.ask('/openapi.json')).json
  for (const [path, methods] of Object.entries<Record<string, { operationId?: string; summary: string }>>(
    paths,
  )) {
    for (const [method, { operationId }] of Object.entries(methods)) {
      t.match(text, new RegExp(`id="${operationId ?? ''}`), `${method} ${path}`)
    }
  }
  t.match(text, /<code>title<\/code\s*>(?:(?!<dt>)[^])*up to 200 characters/)
  for (const [id, access] of [
    ['shareNote', undefined],
    ['readSharedNote', 'public'],
    ['listMails', 'Mails.Read'],
  ] as const) {
    const [summary = ''] = new RegExp(`id="${id}">[^]*?</summary>`).exec(text) ?? []
    t.equal(/<span class="pill">(.*)<\/span>/.exec(summary)?.[1], access, `who may call ${id}`)
  }
  t.notMatch(text, /<script(?! type="module" src=)|\sstyle=|\son\w+=/, 'nothing inline')
})

test('F-42: script and style of the page are 15 kB at most, compressed beforehand', async (t) => {
  const host = await startHost(t)
  const { text } = await host.anonymous.ask('/api/docs')
  const files = [...text.matchAll(/(?:src|href)="(\/static\/[^"]+)"/g)].map(([, file = '']) => file)
  t.equal(files.length, 2)
  let bytes = 0
  for (const file of files) {
    const answer = await fetch(host.url + file, { headers: { 'accept-encoding': 'br' } })
    t.equal(answer.headers.get('content-encoding'), 'br', file)
    t.match(answer.headers.get('cache-control'), 'immutable')
    bytes += Number(answer.headers.get('content-length'))
    await answer.arrayBuffer()
  }
  t.ok(bytes > 1000 && bytes <= 15_000, `${bytes} bytes`)
})

test('F-42: operations are found, opened by a link and tried', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const host = await startHost(t)
  const alice = await host.signIn('alice')
  await alice.enter(browser)
  const page = await browser.newPage()
  const complaints: string[] = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  await page.goto(`${host.url}/api/docs`)
  await page.getByRole('searchbox', { name: 'Search operations' }).fill('share note post')
  await page
    .getByRole('status')
    .filter({ hasText: /^1 of \d+ operations$/ })
    .waitFor()
  t.equal(await page.locator('.operation:visible').count(), 1)

  await page.goto(`${host.url}/api/docs#addNote`)
  const form = page.getByRole('form', { name: 'Try: Add a note' })
  await form.getByLabel('Body').fill('{"title":"<img src=x>"}')
  await form.getByRole('button', { name: 'Send' }).click()
  await form.getByRole('status').filter({ hasText: '201' }).waitFor()
  t.match(await form.getByRole('region', { name: 'The answer' }).textContent(), '"title": "<img src=x>"')
  t.equal(await page.locator('main img').count(), 0)
  t.equal((await alice.ask('/api/notes')).json.length, 1)
  await page.goto(`${host.url}/api/docs#%E0`)
  await page.reload()
  await page.getByRole('searchbox').waitFor()
  t.same(complaints, [])
})

test('API_BROWSER=swagger-ui shows Swagger UI under its own policy', async (t) => {
  const host = await startHost(t, { API_BROWSER: 'swagger-ui' })
  const { text, headers } = await host.anonymous.ask('/api/docs')
  t.match(text, 'swagger-ui')
  t.match(headers.get('content-security-policy'), "default-src 'none'")
})
