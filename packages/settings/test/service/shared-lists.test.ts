import { test } from 'tap'
import { memoryStore, setting, settings, SettingScope } from '@fastify-modular/settings'
import Fastify from 'fastify'

test('a write of one user does not change the values of another', async (t) => {
  const theme = setting.text('app.theme', {
    displayName: 'Theme',
    scope: SettingScope.User,
    default: 'light',
  })
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(settings, { definitions: [theme], store: memoryStore(), routes: false })
  await app.ready()
  const of = async (id: string) => (await app.settings.forUser(id)).get(theme)
  for (const id of ['alice', 'bob']) await app.settings.setSetting('app.theme', 'dark', SettingScope.User, id)
  t.same([await of('alice'), await of('bob')], ['dark', 'dark'])
  await app.settings.setSetting('app.theme', 'system', SettingScope.User, 'alice')
  t.same([await of('alice'), await of('bob')], ['system', 'dark'])
})
