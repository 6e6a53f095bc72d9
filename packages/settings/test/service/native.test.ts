/** The options by name: scope, user and version of one value. */
import { SettingScope } from '@fastify-modular/settings'
import { test } from 'tap'
import { createApp, definitions, rejection } from '../support/app.ts'

const { System, Application, User } = SettingScope

test('set and reset write the value that the definition has, or that of a user', async (t) => {
  const { settings } = await createApp(t)
  await settings.set(definitions.port, 25)
  await settings.set('app.title', 'Acme', { actor: 'alice', note: 'new name' })
  await settings.set('app.theme', 'dark')
  await settings.set(definitions.theme, 'system', { userId: 'alice' })
  t.equal(settings.get(definitions.port), 25)
  t.equal(settings.get(definitions.theme), 'dark', 'the default that users inherit')
  t.equal((await settings.forUser('alice')).get(definitions.theme), 'system')
  t.match((await settings.history({ key: 'app.title' })).entries, [{ actor: 'alice', note: 'new name' }])
  await settings.reset(definitions.theme, { userId: 'alice' })
  await settings.reset('mail.port', { actor: 'bob' })
  t.equal((await settings.forUser('alice')).get(definitions.theme), 'dark')
  t.equal(settings.get(definitions.port), 587)
  t.match((await settings.history({ key: 'mail.port', limit: 1 })).entries, [
    { actor: 'bob', newValue: null },
  ])
})

test('a write on a version that is gone is refused, and 0 is unset', async (t) => {
  const { settings } = await createApp(t)
  await settings.set('app.title', 'one', { version: 0 })
  for (const write of [
    () => settings.set('app.title', 'two', { version: 0 }),
    () => settings.reset('app.title', { version: 7 }),
    () => settings.set('app.theme', 'dark', { userId: 'alice', version: 1 }),
  ])
    t.match(await rejection(write()), { name: 'PreconditionFailedException', status: 412 })
  await settings.reset('app.title', { version: 1 })
  await settings.set('app.theme', 'dark', { userId: 'alice', version: 0 })
  const { version = 0 } = (await settings.record('app.theme', { userId: 'alice' })) ?? {}
  await settings.set('app.theme', 'light', { userId: 'alice', version })
})

test('record and list show values as responses do', async (t) => {
  const { settings } = await createApp(t)
  await settings.set('mail.password', 'hunter2')
  await settings.set('app.theme', 'dark', { userId: 'alice' })
  t.match(await settings.record('mail.password'), {
    scope: System,
    value: null,
    isOverridden: true,
    version: 1,
  })
  t.match(await settings.record('app.theme'), { scope: Application, value: 'light', source: 'default' })
  t.match(await settings.record('app.theme', { userId: 'alice' }), {
    scope: User,
    value: 'dark',
    source: 'user',
  })
  t.equal(await settings.record('no.such'), null)
  t.equal((await settings.list({ scope: System, group: 'Mail' })).length, 2)
  t.match(await settings.list({ scope: User, userId: 'alice' }), [{ key: 'app.theme', value: 'dark' }])
})

test('what cannot be written is refused as over HTTP', async (t) => {
  const { settings } = await createApp(t, { overrides: { 'app.title': 'fixed' } })
  t.match(await rejection(settings.set('no.such', 1)), { status: 404 })
  t.match(await rejection(settings.reset('no.such')), { status: 404 })
  t.match(await rejection(settings.set('mail.port', 'x')), { status: 422 })
  t.match(await rejection(settings.set('app.title', 'x')), { status: 409 })
  t.match(await rejection(settings.set('app.theme', 'dark', { scope: User })), { status: 400 })
})

test('options that name no value of the setting are refused, and write nothing', async (t) => {
  const { settings } = await createApp(t)
  // What a host passes whose request has no caller.
  const nobody: object = { userId: undefined }
  const places: readonly (readonly [key: string, place: object])[] = [
    ['app.theme', nobody],
    ['app.theme', { userId: null }],
    ['app.theme', { userId: '' }],
    ['app.theme', { scope: User }],
    ['app.theme', { scope: Application, userId: 'alice' }],
    ['app.theme', { scope: Application, ...nobody }],
    ['app.theme', { scope: 3 }],
    ['mail.port', { scope: System, userId: 'alice' }],
  ]
  for (const [key, place] of places) {
    const name = `${key} ${JSON.stringify(place)}`
    const refused = { name: 'ArgumentException', status: 400 }
    t.match(await rejection(settings.set(key, 'dark', place)), refused, `set ${name}`)
    t.match(await rejection(settings.reset(key, place)), refused, `reset ${name}`)
    t.match(await rejection(settings.record(key, place)), refused, `record ${name}`)
    t.match(await rejection(settings.restore(key, 1, { scope: User, ...place })), refused, `restore ${name}`)
  }
  t.same((await settings.history()).entries, [])
})

test('in a scope that a setting does not have, nothing is written, read or restored; a reset removes nothing', async (t) => {
  const { settings } = await createApp(t)
  const places: readonly (readonly [key: string, place: object])[] = [
    ['app.theme', { scope: System }],
    ['app.title', { userId: 'alice' }],
    ['app.title', { scope: User, userId: 'alice' }],
    ['app.title', { scope: System }],
    ['mail.port', { scope: Application }],
  ]
  for (const [key, place] of places) {
    const name = `${key} ${JSON.stringify(place)}`
    t.match(await rejection(settings.set(key, 'dark', place)), { name: 'ArgumentException' }, `set ${name}`)
    await settings.reset(key, place)
    t.equal(await settings.record(key, place), null, `record ${name}`)
    t.match(await rejection(settings.restore(key, 1, place)), { status: 404 }, `restore ${name}`)
  }
  const updates = [{ key: 'app.title', scope: System, value: 'x' }]
  t.match(await rejection(settings.setMany(updates)), { name: 'ArgumentException' })
  t.same((await settings.history()).entries, [])
})

test('a list with a user is that of the user, and never of another scope', async (t) => {
  const { settings } = await createApp(t)
  await settings.set('app.theme', 'dark', { userId: 'alice' })
  t.match(await settings.list({ userId: 'alice' }), [{ key: 'app.theme', value: 'dark', scope: User }])
  t.same(await settings.list({ userId: 'bob' }), [])
  const nobody: object = { userId: undefined }
  for (const filter of [nobody, { userId: '' }, { userId: 'alice', scope: System }, { scope: User }])
    t.match(await rejection(settings.list(filter)), { name: 'ArgumentException' }, JSON.stringify(filter))
  t.match(await rejection(settings.history(nobody)), { name: 'ArgumentException' }, 'nor is history')
})

test('restore wants a revision: without one it would take the newest', async (t) => {
  const { settings } = await createApp(t)
  for (const value of ['one', 'two']) await settings.set('app.title', value)
  for (const revision of [undefined, null, 0, -1, 1.5, Number.NaN, '1']) {
    const restoring = settings.restore('app.title', revision as number, { scope: Application })
    t.match(await rejection(restoring), { name: 'ArgumentException' }, String(revision))
  }
  t.equal(settings.get('app.title'), 'two')
})
