/** Drives examples/saas as two organisations do: a web process and a worker on a PostgreSQL, and a browser. */
import { createHmac } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { testBrowser } from '@fastify-modular/test-support/browser'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { type SpawnedApp, spawnApp, spawnNode } from '@fastify-modular/test-support/spawn-app'
import { until } from '@fastify-modular/test-support/until'
import pg from 'pg'
import { type Test, test } from 'tap'

const examples = fileURLToPath(new URL('../../../examples/', import.meta.url))
const folder = join(examples, 'saas')
const secret = 'a secret for this test, long enough for every algorithm'
const flag = 'invoicing.reminders'

const people = `
  INSERT INTO organisations VALUES ('acme', 'Acme Ltd'), ('bolt', 'Bolt AG'), ('ledger', 'The operator');
  INSERT INTO members VALUES ('acme', 'ada', 'owner'), ('bolt', 'ada', 'clerk'), ('bolt', 'eve', 'owner'), ('ledger', 'ops', 'operator')`

/** A token as the sign-in of the product would issue it (RFC 7519). */
function tokenOf(sub: string, organisation: string): string {
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ sub, organisation })}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

async function start(t: Test) {
  const database = await testDatabase(t)
  const env = { DATABASE_URL: database.url, JWT_SECRET: secret, PORT: '0' }
  const web = await spawnApp(join(folder, 'web.mjs'), { env })
  t.teardown(() => web.stop())
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  t.teardown(() => client.end())
  await client.query(people)
  const startWorker = () => {
    const worker = spawnNode(join(folder, 'worker.mjs'), { env })
    t.teardown(() => worker.stop())
    return worker
  }
  return { web, client, startWorker }
}

/** Requests of a person in an organisation. */
function as({ url }: SpawnedApp, person: string, organisation: string) {
  return async function request(method: string, path: string, body?: object) {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${tokenOf(person, organisation)}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    })
    const text = await response.text()
    const isJson = String(response.headers.get('content-type')).includes('json')
    return { status: response.status, text, json: isJson ? JSON.parse(text) : undefined }
  }
}

const put = (tenant: string, key: string, value: unknown) =>
  ['PUT', '/api/settings/tenant', { key, value, tenant }] as const
const evaluate = (context: object) => ['POST', `/ofrep/v1/evaluate/flags/${flag}`, { context }] as const

test('the example has at most 300 lines of code, and its README names each file', (t) => {
  const files = [...readdirSync(folder), 'page/page.jsx'].filter((name) => /\.(?:mjs|jsx)$/.test(name))
  const isCode = (line: string): boolean => !/^\s*(?:\/[/*]|\*|$)/.test(line)
  const lines = files.flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n')).filter(isCode)
  t.ok(lines.length <= 300, `${lines.length} lines`)
  const readme = readFileSync(join(folder, 'README.md'), 'utf8')
  for (const name of files) t.ok(readme.includes(`(${name})`), name)
  t.end()
})

test('two organisations use one application, and each is alone in it', async (t) => {
  const vite = join(examples, 'node_modules/vite/bin/vite.js')
  const build = spawnNode(vite, { args: ['build', 'saas/page'], cwd: examples })
  t.match(await build.exited, { code: 0 }, build.log())
  const { web, client, startWorker } = await start(t)
  const ada = as(web, 'ada', 'acme')
  const adaInBolt = as(web, 'ada', 'bolt')
  const eve = as(web, 'eve', 'bolt')
  const ops = as(web, 'ops', 'ledger')
  const bookings = async (): Promise<number> => (await client.query('SELECT 1 FROM bookings')).rows.length

  await t.test('the brand of one is in no answer and no stream of the other', async (s) => {
    const stream = await followAs(s, web, 'eve', 'bolt')
    const name = 'Acme & Daughters'
    s.equal((await ada(...put('acme', 'branding.name', name))).status, 204)
    s.equal(
      (await ops('PUT', '/api/settings', { key: 'branding.color', scope: 1, value: '#112233' })).status,
      204,
    )
    s.match((await ada('GET', '/organisation')).json, { id: 'acme', name, color: '#112233' })
    for (const request of [adaInBolt, eve]) {
      s.match((await request('GET', '/organisation')).json, { id: 'bolt', name: 'Ledger', color: '#112233' })
      for (const path of ['', '/me?all=true', '/branding.name/resolved', '/definitions', '/public']) {
        const { status, text } = await request('GET', `/api/settings${path}`)
        s.equal(status, 200, path)
        s.notMatch(text, 'Acme', path)
      }
    }
    await until(() => stream().includes('#112233')) // what came after the value of Acme
    s.notMatch(stream(), 'Acme')
  })

  await t.test('a role in one organisation gives nothing in the other', async (s) => {
    s.equal((await adaInBolt(...put('bolt', 'branding.name', 'Ada'))).status, 403)
    s.equal((await adaInBolt('POST', '/members', { person: 'mallory', role: 'owner' })).status, 403)
    s.equal((await adaInBolt('GET', '/api/settings/tenant')).status, 403)
    s.match((await eve(...put('acme', 'branding.name', 'Eve'))).json, { status: 409, code: 'TENANT_CHANGED' })
    const stranger = as(web, 'eve', 'acme')
    s.equal((await stranger('GET', '/organisation')).status, 403)
    s.equal((await stranger('GET', '/invoices')).status, 403)
    s.equal((await stranger(...put('acme', 'branding.name', 'Eve'))).status, 404)
    s.match((await ada('GET', '/organisation')).json, { name: 'Acme & Daughters' })
  })

  await t.test('the operator alone sets the limit of a plan, and it holds', async (s) => {
    const addMember = (person: string) => ada('POST', '/members', { person, role: 'clerk' })
    s.equal((await addMember('bob')).status, 201)
    s.equal((await addMember('bob')).status, 409)
    s.match((await addMember('cleo')).json, { status: 409, code: 'PLAN_EXHAUSTED' })
    s.equal((await ada(...put('acme', 'plan.seats', 100))).status, 403)
    s.equal((await ada('PUT', '/operator/acme/seats', { seats: 100 })).status, 403)
    s.equal((await ops('PUT', '/operator/acme/seats', { seats: 3 })).status, 204)
    const statuses = await Promise.all(
      ['cleo', 'dan', 'emil'].map(async (each) => (await addMember(each)).status),
    )
    s.same(
      statuses.toSorted((a, b) => a - b),
      [201, 409, 409],
      'also where three are added at once',
    )
  })

  await t.test('preferences: the own, else what the organisation has set', async (s) => {
    s.equal((await ada(...put('acme', 'me.theme', 'dark'))).status, 204)
    s.match((await ada('GET', '/organisation')).json, { theme: 'dark' })
    s.match((await eve('GET', '/organisation')).json, { theme: 'light' })
    s.equal((await ada('PUT', '/api/settings/me', { key: 'me.theme', value: 'light' })).status, 204)
    s.match((await ada('GET', '/organisation')).json, { theme: 'light' })
  })

  await t.test(
    'the worker books each invoice once, as its organisation has set; it may start later',
    async (s) => {
      s.equal((await ada(...put('acme', 'invoicing.copies', [' Books@Acme.example ']))).status, 204)
      s.match((await ada(...put('acme', 'invoicing.copies', ['nobody']))).json, { status: 422 })
      for (const request of [ada, eve])
        s.equal((await request('POST', '/invoices', { customer: 'Zoe' })).status, 201)
      startWorker()
      await until(async () => (await bookings()) === 2)
      s.match((await ada('GET', '/invoices')).json, [
        { customer: 'Zoe', copies: ['books@acme.example'], reminder: false },
      ])
      s.match((await eve('GET', '/invoices')).json, [{ customer: 'Zoe', copies: [], reminder: false }])
      startWorker() // two workers are one handler
      for (let count = 0; count < 10; count++)
        await ada('POST', '/invoices', { customer: `Customer ${count}` })
      await until(async () => (await bookings()) >= 12)
      const { rows } = await client.query(
        'SELECT count(*)::int AS all, count(DISTINCT invoice)::int AS invoices FROM bookings',
      )
      s.same(rows, [{ all: 12, invoices: 12 }])
    },
  )

  await t.test(
    'a flag of an organisation: in its page, in the worker, over OFREP, and nowhere else',
    async (s) => {
      const pages = {
        acme: await openPage(s, web, 'ada', 'acme'),
        bolt: await openPage(s, web, 'eve', 'bolt'),
      }
      s.equal((await ada(...put('acme', flag, true))).status, 204)
      s.match((await ada(...evaluate({}))).json, { value: true, reason: 'TARGETING_MATCH' })
      for (const request of [adaInBolt, eve])
        s.match((await request(...evaluate({}))).json, { value: false, reason: 'DEFAULT' })
      s.equal((await eve(...evaluate({ tenant: 'acme' }))).status, 400)
      s.equal((await eve(...evaluate({ targetingKey: 'ada' }))).status, 403)
      const remindersAfterOneMore = async (request: typeof ada) => {
        const { id } = (await request('POST', '/invoices', { customer: 'Yan' })).json
        await until(
          async () => (await client.query('SELECT 1 FROM bookings WHERE invoice = $1', [id])).rows.length > 0,
        )
        return (await request('GET', '/invoices')).json.filter(
          ({ reminder }: { reminder: boolean }) => reminder,
        )
      }
      await until(async () => (await remindersAfterOneMore(ada)).length > 0) // the worker learns of the change soon
      s.same(await remindersAfterOneMore(eve), [])
      if (!pages.acme || !pages.bolt) return
      await pages.acme.getByRole('button', { name: 'Send reminders' }).waitFor()
      s.equal(await pages.bolt.getByRole('button').count(), 0)
      s.equal(await pages.bolt.textContent('h1'), 'Invoices of Ledger')
    },
  )

  t.equal((await web.stop()).code, 0)
})

/** Follows the stream of settings; the function returns what came so far. */
async function followAs(t: Test, { url }: SpawnedApp, person: string, organisation: string) {
  const end = new AbortController()
  t.teardown(() => end.abort())
  const headers = { authorization: `Bearer ${tokenOf(person, organisation)}` }
  const response = await fetch(`${url}/api/settings/stream`, { headers, signal: end.signal })
  t.equal(response.status, 200)
  let text = ''
  const read = async (): Promise<void> => {
    if (!response.body) throw new Error('the stream has no body')
    const decoder = new TextDecoder()
    for await (const chunk of response.body) text += decoder.decode(chunk, { stream: true })
  }
  read().catch(() => {}) // it ends with the test
  return () => text
}

/** The page as a person sees it, once it has read its flags; null without a browser. */
async function openPage(t: Test, { url }: SpawnedApp, person: string, organisation: string) {
  const browser = await testBrowser(t)
  if (!browser) return null
  await browser.addCookies([{ name: 'token', value: tokenOf(person, organisation), url }])
  const page = await browser.newPage()
  const flags = page.waitForResponse(/\/ofrep\//)
  await page.goto(`${url}/index.html`)
  t.equal((await flags).status(), 200)
  await page.getByRole('heading').waitFor()
  return page
}
