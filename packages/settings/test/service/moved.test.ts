/** Settings that get another name or another scope: `copy` and `forget`. */
import { setting, type SettingDefinition, settings, SettingScope } from '@fastify-modular/settings'
import type { StorePort } from '#src/store/store.js'
import Fastify from 'fastify'
import { test } from 'tap'
import { engines } from '../support/engines.ts'
import { createApp, rejection } from '../support/app.ts'
import { memoryStore } from '../support/stores.js'

const { Application, User } = SettingScope
const key = Buffer.alloc(32, 'k1').toString('base64')

async function open(store: StorePort, ...definitions: readonly SettingDefinition[]) {
  const app = Fastify()
  const encryption = { keys: [{ id: 'k1', key }] }
  await app.register(settings, { store, definitions, encryption, routes: false })
  await app.ready()
  return app
}

const text = (name: string, more: object = {}) =>
  setting.text(name, { displayName: name, scope: User, maxLength: 20, ...more })

for (const [engine, make] of Object.entries(engines)) {
  test(`${engine}: values are copied to another name, once and again, and the old ones forgotten`, async (t) => {
    const database = await make(t)
    const before = await open(database(), text('old.name'))
    t.teardown(() => before.close())
    await before.settings.set('old.name', 'for all')
    for (const userId of ['alice', 'bob']) await before.settings.set('old.name', userId, { userId })

    const after = await open(database(), text('new.name'))
    t.teardown(() => after.close())
    await after.settings.set('new.name', 'new of bob', { userId: 'bob' })
    const done = { copied: 2, unchanged: 0, kept: 1, newer: 0, refused: {} }
    t.same(await after.settings.copy('old.name', 'new.name', { actor: 'cli:ada' }), done)
    t.equal(after.settings.get(text('new.name')), 'for all')
    t.equal((await after.settings.forUser('alice')).get(text('new.name')), 'alice')
    t.equal((await after.settings.forUser('bob')).get(text('new.name')), 'new of bob')
    const [entry] = (await after.settings.history({ key: 'new.name' })).entries
    t.match(entry, { origin: 'copy', actor: 'cli:ada' })

    await new Promise((resolve) => setTimeout(resolve, 2)) // the clock of the database has milliseconds
    await before.settings.set('old.name', 'later', { userId: 'bob' })
    const again = { copied: 0, unchanged: 2, kept: 1, newer: 1, refused: {} }
    t.same(await after.settings.copy('old.name', 'new.name'), again)
    const taken = { copied: 1, unchanged: 2, kept: 0, newer: 0, refused: {} }
    t.same(await after.settings.copy('old.name', 'new.name', { overwrite: true }), taken)
    t.equal((await after.settings.forUser('bob')).get(text('new.name')), 'later')

    t.same(await after.settings.forget('new.name'), { values: 0, history: 0 }, 'it is defined')
    t.same(await after.settings.forget('old.name'), { values: 3, history: 4 })
    t.same(await after.settings.orphans(), [])
    t.match(await rejection(after.settings.copy('old.name', 'no.such')), { status: 404 })
  })
}

test('a copy takes no secret out, no value that does not fit, and nothing to another scope', async (t) => {
  const store = memoryStore()
  const before = await open(
    store,
    text('old.secret', { sensitive: true }),
    text('old.long'),
    text('old.mine'),
  )
  await before.settings.set('old.secret', 'hunter2')
  await before.settings.set('old.long', 'x'.repeat(20))
  await before.settings.set('old.mine', 'of alice', { userId: 'alice' })
  const after = await open(
    store,
    text('new.plain'),
    text('new.secret', { sensitive: true }),
    text('new.short', { maxLength: 5 }),
    setting.text('new.shared', { displayName: 'Shared', scope: Application }),
    text('new.locked'),
  )
  const refusals: readonly (readonly [from: string, to: string, reason: string])[] = [
    ['old.secret', 'new.plain', 'it is a secret, and the target is not'],
    ['old.long', 'new.short', 'the value breaks the definition of the target'],
    ['old.mine', 'new.shared', 'the target has no values in the scope 2'],
  ]
  for (const [from, to, reason] of refusals)
    t.match(await after.settings.copy(from, to), { copied: 0, refused: { [reason]: 1 } })
  t.match(await after.settings.copy('old.secret', 'new.secret'), { copied: 1 })
  t.equal(after.settings.get(text('new.secret')), 'hunter2')
  t.match(await after.settings.copy('old.secret', 'new.secret'), { unchanged: 1 })
  t.notMatch(JSON.stringify(await store.scan.values(null, 100)), 'hunter2')
})

test('a secret that is stored in plain text is not copied to where it would be shown', async (t) => {
  const app = await createApp(t, {
    definitions: [text('old.secret', { sensitive: true }), text('new.plain', { public: true })],
  })
  await app.settings.set('old.secret', 'hunter2')
  const refused = { 'it is a secret, and the target is not': 1 }
  t.match(await app.settings.copy('old.secret', 'new.plain'), { copied: 0, refused })
  t.notMatch(JSON.stringify(app.settings.publicValues()), 'hunter2')
})

test('with the same name twice, values in the scope of the former definition go to that of today', async (t) => {
  const store = memoryStore()
  const moved = (scope: SettingScope) => setting.text('x.moved', { displayName: 'Moved', scope })
  const before = await open(store, moved(SettingScope.System))
  await before.settings.set('x.moved', 'Acme')
  const after = await open(store, moved(Application))
  t.equal(after.settings.get(text('x.moved')), null)
  t.match(await after.settings.copy('x.moved', 'x.moved'), { copied: 1, refused: {} })
  t.equal(after.settings.get(text('x.moved')), 'Acme')
  t.same(await after.settings.forget('x.moved'), { values: 1, history: 1 })
  t.equal(after.settings.get(text('x.moved')), 'Acme')
  t.same(await after.settings.orphans(), [])
})
