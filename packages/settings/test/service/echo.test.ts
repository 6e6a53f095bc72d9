import { setImmediate as macrotask } from 'node:timers/promises'
import { ServiceUnavailableException } from '@fastify-modular/core'
import { memoryStore, SettingScope, type SettingsStore, type WriteRequest } from '@fastify-modular/settings'
import { test } from 'tap'
import { createApp, rejection } from '../support/app.ts'

const { Application } = SettingScope

/** A store that announces each commit before the writer gets its answer, as PostgreSQL may. */
async function createWithEarlyNotice(
  t: Parameters<typeof createApp>[0],
  options: { readonly loses?: boolean } = {},
) {
  const inner = memoryStore()
  const calls = { history: 0, enqueue: 0 }
  let announce = (_revision: number): void => {}
  const store: SettingsStore = {
    ...inner,
    readHistory: (query) => {
      calls.history++
      return inner.readHistory(query)
    },
    async write(request: WriteRequest) {
      if (request.enqueue) calls.enqueue++
      const written = await inner.write(request)
      announce(written.revision)
      for (let turn = 0; turn < 5; turn++) await macrotask()
      if (options.loses) throw new ServiceUnavailableException('The answer of the database was lost.')
      return written
    },
    async watch(onRevision) {
      announce = onRevision
      return async () => {}
    },
  }
  return { app: await createApp(t, { store }), calls }
}

test('a write counts as local, however early its notification arrives, and is not read again', async (t) => {
  const { app, calls } = await createWithEarlyNotice(t)
  const received: unknown[] = []
  app.settings.on('app.title', (value, { origin }) => void received.push([value, origin]))
  for (const value of ['one', 'two']) await app.settings.setSetting('app.title', value, Application)
  await macrotask()
  t.same(received, [
    ['one', 'local'],
    ['two', 'local'],
  ])
  t.equal(calls.history, 0)
  t.match(app.settings.status, { state: 'ready', revision: 2 })
})

test('a commit whose answer was lost reaches memory, because its notification had arrived', async (t) => {
  const { app } = await createWithEarlyNotice(t, { loses: true })
  t.match(await rejection(app.settings.setSetting('app.title', 'kept', Application)), { status: 503 })
  await app.settings.refresh() // joins the catching up that runs already
  t.equal(app.settings.get('app.title'), 'kept')
  t.equal(app.settings.status.revision, 1)
})

test('without events a store does not wait for them between the rows and the commit', async (t) => {
  const { app, calls } = await createWithEarlyNotice(t)
  await app.settings.setSetting('app.title', 'one', Application)
  t.equal(calls.enqueue, 0)
})
