/** Decision 73: a schema holds on every way by which a value comes in. */
import { memoryStore, setting, SettingScope } from '@fastify-modular/settings'
import { Type } from '@sinclair/typebox'
import { test } from 'tap'
import { as, createApp } from '../support/app.ts'

const common = { displayName: 'Links', scope: SettingScope.Application }
const links = setting.json('app.links', {
  ...common,
  schema: Type.Array(Type.Object({ label: Type.String({ minLength: 1 }), url: Type.String() })),
  default: [],
})
const wrong = [{ label: '', url: 'x' }]
const errors = { 'app.links': ['/0/label: A value is required.'] }

test('a value that breaks its schema is refused in a write, a bulk, an import and in process', async (t) => {
  const app = await createApp(t, { definitions: [links] })
  const editor = as(app, 'editor')
  const entry = { key: 'app.links', scope: 1, value: wrong }
  const refused = { status: 422, json: { errors } }
  t.match(await editor('PUT', '', entry), refused)
  t.match(await editor('PUT', '/bulk', [entry]), refused)
  t.match(await editor('PUT', '/bulk?dryRun=true', [entry]), refused)
  t.match(await editor('POST', '/import', { format: 1, settings: [entry] }), refused)
  await t.rejects(app.settings.contract.setSetting('app.links', wrong, SettingScope.Application), {
    code: 'SETTING_VALIDATION',
  })
  t.equal((await editor('PUT', '', { ...entry, value: [{ label: 'Docs', url: '/docs' }] })).status, 204)
  t.same(app.settings.get(links), [{ label: 'Docs', url: '/docs' }])
})

test('an override that breaks the schema stops the boot', async (t) => {
  await t.rejects(createApp(t, { definitions: [links], overrides: { 'app.links': wrong } }), /\/0\/label/)
})

test('what an instance without the schema has stored is not used', async (t) => {
  const store = memoryStore()
  const before = await createApp(t, { store, definitions: [setting.json('app.links', common)] })
  await before.settings.contract.setSetting('app.links', wrong, SettingScope.Application)
  const app = await createApp(t, { store, definitions: [links] })
  t.same(app.settings.get(links), [], 'the default holds')
})
