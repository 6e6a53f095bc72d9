/** What the routes answer while another instance has written and this one has not noticed yet. */
import { memoryStore, SettingScope } from '@fastify-modular/settings'
import { type Test, test } from 'tap'
import { as, createApp } from '../support/app.ts'

const { Application, User } = SettingScope

/** Two applications on one store that does not tell them of each other. */
async function twoInstances(t: Test) {
  const store = memoryStore()
  const here = await createApp(t, { store })
  return { here, there: await createApp(t, { store }) }
}

test('a dry run shows the value that the database has', async (t) => {
  const { here, there } = await twoInstances(t)
  await here.settings.contract.setSetting('app.title', 'A', Application)
  await there.settings.contract.setSetting('app.title', 'C', Application)
  t.equal(here.settings.get('app.title'), 'A', 'not noticed yet')
  const bulk = [{ key: 'app.title', scope: Application, value: 'B' }]
  t.same((await as(here, 'editor')('PUT', '/bulk?dryRun=true', bulk)).json, [
    { key: 'app.title', scope: Application, change: 'update', oldValue: 'C', newValue: 'B' },
  ])
})

test('the tag of own values changes with them, whichever instance wrote', async (t) => {
  const { here, there } = await twoInstances(t)
  const alice = as(here, 'alice')
  const own = async (headers = {}) => alice('GET', '?scope=2', undefined, headers)
  await here.settings.contract.setSetting('app.theme', 'dark', User, 'alice')
  const tag = String((await own()).headers.etag)
  t.equal((await own({ 'if-none-match': tag })).status, 304)
  await there.settings.contract.setSetting('app.theme', 'system', User, 'alice')
  t.match(await own({ 'if-none-match': tag }), { status: 200, json: [{ value: 'system' }] })
  t.not((await own()).headers.etag, tag)
  t.not((await as(here, 'bob')('GET', '?scope=2')).headers.etag, tag)
  await here.settings.contract.setSetting('app.theme', 'light', User, 'bob')
  const bobs = String((await as(here, 'bob')('GET', '?scope=2')).headers.etag)
  await here.settings.contract.setSetting('app.theme', 'dark', User, 'alice')
  t.equal(
    (await as(here, 'bob')('GET', '?scope=2', undefined, { 'if-none-match': bobs })).status,
    304,
    'the writes of others leave it as it is',
  )
})

const title = (value: unknown) => ({ key: 'app.title', scope: Application, value })
const stale = { 'if-match': '"r1"' }
const refused = {
  '412 of a write': ['PUT', '', title('mine'), stale],
  '412 of a reset': ['DELETE', '/app.title?scope=1', undefined, stale],
  '409 of a bulk': ['PUT', '/bulk', [{ ...title('mine'), version: 1 }], {}],
  '422 of a value': ['PUT', '', title(''), { 'if-match': '"r2"' }],
} as const

for (const [name, [method, path, body, headers]] of Object.entries(refused)) {
  test(`a refused writer (${name}) reads the value that it was refused for`, async (t) => {
    const { here, there } = await twoInstances(t)
    await there.settings.contract.setSetting('app.title', 'A', Application)
    await here.settings.refresh()
    await there.settings.contract.setSetting('app.title', 'B', Application)
    const editor = as(here, 'admin')
    t.match(await editor('GET', '/app.title?scope=1'), { headers: { etag: '"r1"' } }, 'not noticed yet')
    t.equal((await editor(method, path, body, headers)).status, Number(name.slice(0, 3)))
    t.match(await editor('GET', '/app.title?scope=1'), { headers: { etag: '"r2"' }, json: { value: 'B' } })
  })
}

test('mode=replace removes what another instance has just stored, and the dry run says so', async (t) => {
  const { here, there } = await twoInstances(t)
  await here.settings.contract.setSetting('app.title', 'Acme', Application)
  await there.settings.contract.setSetting('app.banner', 'surplus', Application)
  t.equal(here.settings.get('app.banner'), null, 'not noticed yet')
  const file = { format: 1, settings: [{ key: 'app.title', scope: Application, value: 'Acme' }] }
  for (const dryRun of [true, false]) {
    t.match(await as(here, 'editor')('POST', `/import?mode=replace&dryRun=${dryRun}`, file), {
      status: 200,
      json: { delete: ['app.banner'], unchanged: ['app.title'] },
    })
  }
  await there.settings.refresh()
  t.equal(there.settings.get('app.banner'), null)
})
