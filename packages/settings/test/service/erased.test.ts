/** A user who is erased is in no answer of any instance any more. */
import { SettingScope, memoryStore, type SettingsStore } from '@fastify-modular/settings'
import { postgres } from '@fastify-modular/settings/postgres'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import t, { type Test, test } from 'tap'
import { until } from '#src/testing/contract/case.js'
import { as, createApp } from '../support/app.ts'

const { Application, User } = SettingScope

t.setTimeout(120_000)

const engines: Readonly<Record<string, (t: Test) => Promise<() => SettingsStore>>> = {
  memory: async () => {
    const store = memoryStore()
    return () => store
  },
  PostgreSQL: async (t) => {
    const { url } = await testDatabase(t)
    return () => postgres({ connectionString: url }, { pollInterval: 50 })
  },
}

for (const [name, open] of Object.entries(engines)) {
  test(`${name}: an erased user is no writer of shared values in any instance`, async (t) => {
    const newStore = await open(t)
    const here = await createApp(t, { store: newStore() })
    await here.settings.setSetting('app.title', 'Acme', Application, undefined, { actor: 'mallory' })
    const there = name === 'memory' ? here : await createApp(t, { store: newStore() })
    const list = async (app: typeof here) => (await as(app, 'admin')('GET', '/')).text
    t.match(await list(here), /mallory/)
    t.match(await list(there), /mallory/)
    await here.settings.eraseUser('mallory')
    t.notMatch(await list(here), /mallory/)
    await until('the other instance', async () => !/mallory/.test(await list(there)))
  })
}

test('an erased user is no writer of the values of others, whatever these have cached', async (t) => {
  const app = await createApp(t)
  const alice = as(app, 'alice')
  await app.settings.setSetting('app.theme', 'dark', User, 'alice', { actor: 'mallory' })
  for (const path of ['?scope=2', '/me']) {
    await app.settings.setSetting('app.theme', path === '/me' ? 'light' : 'dark', User, 'alice', {
      actor: 'mallory',
    })
    const before = await alice('GET', path)
    t.match(before.text, /mallory/)
    await app.settings.eraseUser('mallory')
    const after = await alice('GET', path, undefined, { 'if-none-match': String(before.headers.etag) })
    t.equal(after.status, 200)
    t.notMatch(after.text, /mallory/)
  }
})
