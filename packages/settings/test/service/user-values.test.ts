import { test } from 'tap'
import { memoryStore, setting, settings, SettingScope } from '@fastify-modular/settings'
import Fastify from 'fastify'
import { changedStore } from '../support/changed-store.ts'

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
  for (const id of ['alice', 'bob'])
    await app.settings.contract.setSetting('app.theme', 'dark', SettingScope.User, id)
  t.same([await of('alice'), await of('bob')], ['dark', 'dark'])
  await app.settings.contract.setSetting('app.theme', 'system', SettingScope.User, 'alice')
  t.same([await of('alice'), await of('bob')], ['system', 'dark'])
})

test('a user whose values change during each read is answered, and read again by the next load', async (t) => {
  const store = memoryStore()
  let reads = 0
  let writes = 0
  let isBusy = true
  const theme = setting.text('app.theme', {
    displayName: 'Theme',
    scope: SettingScope.User,
    default: 'light',
  })
  const app = Fastify()
  t.teardown(() => app.close())
  const busy = changedStore(store, {
    users: {
      async read(userId) {
        reads++
        const rows = await store.users.read(userId)
        if (isBusy)
          await app.settings.contract.setSetting('app.theme', `dark ${++writes}`, SettingScope.User, userId)
        return rows
      },
    },
  })
  await app.register(settings, { definitions: [theme], store: busy, routes: false })
  await app.ready()
  t.equal((await app.settings.forUser('alice')).get(theme), 'dark 2', 'the last read of three')
  t.equal(reads, 3)
  isBusy = false
  t.equal((await app.settings.forUser('alice')).get(theme), 'dark 3')
  t.equal((await app.settings.forUser('alice')).get(theme), 'dark 3')
  t.equal(reads, 4, 'then it is kept')
})
