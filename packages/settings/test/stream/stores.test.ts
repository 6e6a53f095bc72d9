/** Streams of two instances on one database: what one writes reaches the readers of the other, whatever happens between them. */
import { SettingScope } from '@fastify-modular/settings'
import type { FastifyInstance } from 'fastify'
import { type Test, test } from 'tap'
import { readStream, start, type StreamReader } from '../support/reader.ts'
import { backTo, sqlEngines } from '../support/sql-engines.ts'

const { Application, User } = SettingScope

async function setTitle({ settings }: FastifyInstance, value: string): Promise<void> {
  await settings.contract.setSetting('app.title', value, Application)
}

/** Waits for a title, by changes or by everything. */
async function title(stream: StreamReader, expected: string): Promise<string> {
  for (;;) {
    const { id, data } = await stream.next()
    if (data.some(({ key, value }) => key === 'app.title' && value === expected)) return id
  }
}

/** How a reader who comes back with an id is answered, and with which values. */
async function comeBack(app: FastifyInstance, id: string) {
  const stream = await readStream(app, { headers: { 'x-caller': 'alice', 'last-event-id': id } })
  const { event, data } = await stream.nextShared()
  stream.close()
  return { event, values: Object.fromEntries(data.map(({ key, value }) => [key, value])) }
}

for (const [name, open] of Object.entries(sqlEngines)) {
  const two = async (t: Test) => {
    const { store, run } = await open(t)
    const instance = () => start(t, { store: store(20) })
    return { here: await instance(), there: await instance(), instance, store, run }
  }

  test(`${name}: a write of one instance reaches the streams of the other`, async (t) => {
    const { here, there } = await two(t)
    const stream = await readStream(there)
    await stream.next('own')
    await setTitle(here, 'Acme')
    t.match((await stream.next('change')).data, [{ key: 'app.title', value: 'Acme', version: 1 }])
    await here.settings.contract.setSetting('app.theme', 'dark', User, 'alice')
    await stream.next('own')
    t.notMatch(stream.text, /dark/)
  })

  test(`${name}: after a restart a reader gets everything where anything has changed, else nothing`, async (t) => {
    const { here, there, instance } = await two(t)
    await setTitle(here, 'A')
    const id = await title(await readStream(there), 'A')
    await there.close()
    t.same(await comeBack(await instance(), id), { event: '', values: {} })
    await here.settings.contract.setSetting('app.banner', 'news', Application)
    await here.close()
    const { event, values } = await comeBack(await instance(), id)
    t.match({ event, values }, { event: 'snapshot', values: { 'app.title': 'A', 'app.banner': 'news' } })
  })

  test(`${name}: open streams get everything of a restored database, and so do readers who saw what was lost`, async (t) => {
    const { here, there, run } = await two(t)
    await here.settings.contract.setSetting('app.banner', 'kept', Application)
    await setTitle(here, 'lost')
    const stream = await readStream(there)
    const lost = await title(stream, 'lost')
    await run(...backTo(1))
    await setTitle(here, 'found')
    await title(stream, 'found')
    t.match(stream.text, /event: snapshot.*event: snapshot/s)
    for (const app of [here, there])
      t.match(await comeBack(app, lost), {
        event: 'snapshot',
        values: { 'app.title': 'found', 'app.banner': 'kept' },
      })
  })

  test(`${name}: an instance that is behind a reader looks at the database first`, async (t) => {
    const { store } = await open(t)
    const here = await start(t, { store: store() })
    const there = await start(t, { store: store() })
    await setTitle(here, 'A')
    const { id } = await (await readStream(here)).nextShared()
    t.same(await comeBack(there, id), { event: '', values: {} })
    t.equal(there.settings.get('app.title'), 'A')
  })

  test(`${name}: a stranger who comes within a second of another one's look gets what was written since`, async (t) => {
    const { store } = await open(t)
    const here = await start(t, { store: store() })
    const there = await start(t, { store: store() })
    const path = '/public/stream'
    await readStream(there, { path, headers: { 'last-event-id': '999999-000000000000' } })
    await here.settings.contract.setSetting('app.primary_color', '#112233', Application)
    const { id } = await (await readStream(here, { path })).next()
    const visit = await readStream(there, { path, headers: { 'last-event-id': id } })
    t.match(await visit.next(), { id, event: '', data: [] })
    t.equal(there.settings.get('app.primary_color'), '#112233')
  })
}

test('PostgreSQL: a change arrives although the connection that hears of it was killed', async (t) => {
  const { store, run } = await sqlEngines.PostgreSQL(t)
  const here = await start(t, { store: store() })
  const there = await start(t, { store: store() })
  const stream = await readStream(there)
  await stream.next('own')
  await run(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and query ilike 'listen%'`)
  await setTitle(here, 'Acme')
  t.match((await stream.next('change')).data, [{ key: 'app.title', value: 'Acme' }])
})
