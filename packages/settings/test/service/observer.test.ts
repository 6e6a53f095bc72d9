import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { test } from 'tap'
import { setting, type SettingsDiagnostic, SettingScope } from '@fastify-modular/settings'
import { createApp, rejection } from '../support/app.ts'
import { changedStore } from '../support/changed-store.ts'
import { memoryStore } from '../support/stores.js'

const { System, Application, User } = SettingScope

/** What the channel carries of one type during a test. */
function listen(
  t: { teardown(stop: () => void): unknown },
  type: SettingsDiagnostic['type'],
  look = (): void => {},
): unknown[] {
  const messages: unknown[] = []
  const listener = (message: unknown): void => {
    if ((message as SettingsDiagnostic).type !== type) return
    messages.push(message)
    look()
  }
  subscribe('fastify-modular:settings', listener)
  t.teardown(() => void unsubscribe('fastify-modular:settings', listener))
  return messages
}

test('S9: every row that is written is announced once, without its value, after memory has it', async (t) => {
  const app = await createApp(t)
  const seen: unknown[] = []
  const messages = listen(t, 'change', () => seen.push(app.settings.get('mail.port')))
  await app.settings.contract.setSetting('mail.port', 25, System, undefined, { actor: 'admin' })
  t.same(seen, [25])
  await app.settings.contract.setSetting('mail.password', 'hunter2', System)
  await app.settings.contract.setSetting('mail.port', 26, System)
  await app.settings.contract.setSetting('mail.port', 26, System)
  await app.settings.contract.setSetting('app.theme', 'dark', User, 'alice')
  const version = (await app.settings.contract.getSettingValue('app.theme', User, 'alice'))?.version ?? 0
  await app.settings.contract.deleteSetting('app.theme', User, 'alice')
  t.match(messages, [
    { key: 'mail.port', scope: 0, userId: null, change: 'create', revision: 1, actor: 'admin' },
    { key: 'mail.password', scope: 0, userId: null, change: 'create', revision: 2, actor: null },
    { key: 'mail.port', scope: 0, userId: null, change: 'update', revision: 3, actor: null },
    { key: 'app.theme', scope: 2, userId: 'alice', change: 'create', revision: version, actor: null },
    { key: 'app.theme', scope: 2, userId: 'alice', change: 'delete', revision: Number, actor: null },
  ])
  t.notMatch(JSON.stringify(messages), /hunter2/)
})

test('S9: stats count how writes end, and no reads', async (t) => {
  const { settings } = await createApp(t, { overrides: { 'app.banner': 'fixed' } })
  const before = settings.stats
  await settings.setMany([
    { key: 'mail.port', scope: System, value: 25 },
    { key: 'app.title', scope: Application, value: 'Acme' },
  ])
  await settings.contract.setSetting('mail.port', 25, System)
  settings.get('mail.port')
  t.match(await rejection(settings.setMany([{ key: 'mail.port', scope: System, value: 1, version: 9 }])), {
    status: 409,
  })
  t.match(await rejection(settings.contract.setSetting('mail.port', 0, System)), { status: 422 })
  t.match(await rejection(settings.contract.setSetting('app.banner', 'x', Application)), { status: 409 })
  t.same(settings.stats, { ...before, writes: 1, changes: 2, conflicts: 1, refusals: 2, failures: 0 })
  t.equal(before.writes, 0, 'a reading does not change any more')
})

test('S9: a database that does not answer counts as failures of writes and of refreshes', async (t) => {
  const inner = memoryStore()
  let down = false
  const fails = (): void => {
    if (down) throw new Error('down')
  }
  const store = changedStore(inner, {
    shared: { news: async (after, limit) => (fails(), inner.shared.news(after, limit)) },
    write: async (request, write) => (fails(), write(request)),
  })
  const { settings } = await createApp(t, { store })
  const messages = listen(t, 'refresh')
  down = true
  await rejection(settings.contract.setSetting('mail.port', 25, System))
  await settings.refresh()
  t.match(settings.stats, { failures: 1, failedRefreshes: 1, refreshes: 0 })
  t.match(messages, [{ revision: 0, reloaded: false, error: { message: 'down' } }])
})

test('S9: what another process wrote is announced as one refresh; nothing new is none', async (t) => {
  const store = memoryStore()
  const [here, there] = [await createApp(t, { store }), await createApp(t, { store })]
  const messages = listen(t, 'refresh')
  await there.settings.contract.setSetting('mail.port', 25, System)
  await here.settings.refresh()
  await here.settings.refresh()
  t.same(messages, [{ type: 'refresh', revision: 1, reloaded: true }])
  t.equal(here.settings.stats.refreshes, 1)
  t.equal(here.settings.stats.writes, 0, 'each process counts its own')
})

test('S9: a stored value that no longer fits is announced once, without the value', async (t) => {
  const store = memoryStore()
  const text = setting.text('mail.port', { displayName: 'Port', scope: System })
  await (
    await createApp(t, { store, definitions: [text] })
  ).settings.contract.setSetting('mail.port', 'hunter2', System)
  const messages = listen(t, 'invalid')
  const { settings } = await createApp(t, { store })
  settings.get('mail.port')
  await settings.inspect('mail.port')
  t.same(messages, [{ type: 'invalid', key: 'mail.port', scope: 0 }])
  t.equal(settings.stats.invalid, 1)
})
