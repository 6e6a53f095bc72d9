import { test } from 'tap'
import { memoryStore, setting, settings, SettingScope } from '@fastify-modular/settings'
import Fastify from 'fastify'
import { createSharedLists } from '#src/memory/user-values.js'

test('P12: users with equal values share one list', async (t) => {
  const share = createSharedLists()
  const dark = share([undefined, 'dark'])
  t.equal(share([undefined, 'dark']), dark)
  t.not(share([undefined, 'light']), dark)
  t.not(share(['dark']), dark)
  t.not(share([undefined, 'dark', undefined, 1]), dark)
})

test('what JSON cannot tell apart is not shared, and no more is remembered than fits', async (t) => {
  const share = createSharedLists()
  const broken = [new Error('one')]
  t.equal(share(broken), broken)
  const other = [new Error('two')]
  t.equal(share(other), other)
  t.strictSame(share([undefined, 1]), [undefined, 1])
  t.strictSame(share([null, 1]), [null, 1])
  const long = ['x'.repeat(500)]
  t.equal(share(long), long)
  t.not(share(['x'.repeat(500)]), long)
  for (let number = 0; number < 1000; number++) share([number])
  const late = ['late']
  t.equal(share(late), late)
  t.not(share(['late']), late)
  t.equal(share([7]), share([7]), 'early ones stay')
})

test('a write of one user does not show in the list that another shares', async (t) => {
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
