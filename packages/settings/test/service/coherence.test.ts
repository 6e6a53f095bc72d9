import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import { test } from 'tap'
import { SettingScope, type SettingsOptions } from '@fastify-modular/settings'
import type { StorePort, StoreWatch } from '#src/store/store.js'
import { ServiceUnavailableException } from '@fastify-modular/core'
import { TooManyWritesException } from '#src/store/store.js'
import { until } from '../contract/case.ts'
import { as, createApp, definitions, logInto, rejection } from '../support/app.ts'
import { changedStore } from '../support/changed-store.ts'
import { sqlEngines } from '../support/sql-engines.ts'
import { memoryStore } from '../support/stores.js'

const { Application, User, System } = SettingScope

/** Two applications on one store, whose notifications the test sends. */
async function createTwo(
  t: Parameters<typeof createApp>[0],
  options: SettingsOptions = {},
  server: FastifyServerOptions = {},
) {
  const inner = memoryStore()
  const watchers = new Set<StoreWatch>()
  const down = { value: false }
  const onLook = { run: () => {} }
  const check = <T>(answer: () => Promise<T>): Promise<T> =>
    down.value
      ? Promise.reject(new ServiceUnavailableException('The settings database does not answer.'))
      : answer()
  const store = (): StorePort =>
    changedStore(inner, {
      shared: {
        read: () => check(() => inner.shared.read()),
        news: (after, limit) => (onLook.run(), check(() => inner.shared.news(after, limit))),
      },
      owned: {
        read: (...args) => check(() => inner.owned.read(...args)),
        news: (since, limit) => check(() => inner.owned.news(since, limit)),
      },
      history: (query) => check(() => inner.history(query)),
      write: (request, write) => check(() => write(request)),
      close: async () => {},
      async watch(watch) {
        watchers.add(watch)
        return async () => void watchers.delete(watch)
      },
    })
  const [here, there] = [
    await createApp(t, { ...options, store: store() }, server),
    await createApp(t, { ...options, store: store() }, server),
  ]
  return { here, there, down, inner, onLook, hint: () => watchers.forEach(({ onHint }) => onHint()) }
}

/** Lets the applications look, and resolves when one of them has. */
async function look({ settings }: FastifyInstance, hint: () => void): Promise<void> {
  const { checkedAt } = settings.status
  await until('the next millisecond', () => Date.now() > checkedAt)
  hint()
  await until('the look', () => settings.status.checkedAt > checkedAt)
}

test('a write that gave up its place in the queue does not make memory stale', async (t) => {
  const inner = memoryStore()
  const state = { error: undefined as Error | undefined }
  const store = changedStore(inner, {
    write: (request, write) => (state.error ? Promise.reject(state.error) : write(request)),
    shared: {
      news: (after, limit) => (state.error ? Promise.reject(state.error) : inner.shared.news(after, limit)),
    },
  })
  const { settings } = await createApp(t, { store })
  state.error = new TooManyWritesException()
  t.equal((await rejection(settings.contract.setSetting('mail.port', 25, System))).status, 503)
  t.equal(settings.status.state, 'ready')
  state.error = new ServiceUnavailableException('It does not answer.')
  t.equal((await rejection(settings.contract.setSetting('mail.port', 25, System))).status, 503)
  t.equal(settings.status.state, 'stale')
})

test('what another process wrote is read after its notification, with listeners called', async (t) => {
  const { here, there, hint } = await createTwo(t)
  const received: unknown[] = []
  there.settings.on(
    'app.title',
    (value, { previous, origin }) =>
      void received.push([value, previous, origin, there.settings.get('app.banner')]),
  )
  await here.settings.setMany([
    { key: 'app.title', scope: Application, value: 'one' },
    { key: 'app.banner', scope: Application, value: 'B' },
  ])
  t.equal(there.settings.get(definitions.title), 'Fastify Modular')
  hint()
  await there.settings.refresh()
  t.equal(there.settings.get(definitions.title), 'one')
  t.same(received, [['one', 'Fastify Modular', 'remote', 'B']])
  t.equal(there.settings.status.revision, 1)
  t.match((await as(there, 'alice')('GET', '/app.title?scope=1')).json, { value: 'one', version: 1 })
})

test('many writes are caught up at once, deletions too', async (t) => {
  const { here, there } = await createTwo(t)
  await here.settings.contract.setSetting('app.banner', 'gone soon', Application)
  await there.settings.refresh()
  for (let value = 1; value <= 40; value++)
    await here.settings.contract.setSetting('mail.port', value, System)
  await here.settings.contract.deleteSetting('app.banner', Application)
  await there.settings.refresh()
  t.equal(there.settings.get(definitions.port), 40)
  t.equal(there.settings.get(definitions.banner), null)
  t.equal(there.settings.status.revision, here.settings.status.revision)
})

test('more news than a page of history is read as a whole', async (t) => {
  const { here, there } = await createTwo(t)
  await there.settings.forUser('user1')
  for (let index = 0; index < 1100; index++)
    await here.settings.contract.setSetting('app.theme', index % 2 ? 'dark' : 'system', User, `user${index}`)
  await here.settings.contract.setSetting('mail.port', 25, System)
  for (let index = 0; index < 1100; index++)
    await here.settings.contract.setSetting('app.theme', 'light', User, `user${index}`)
  await there.settings.refresh()
  t.equal(there.settings.get(definitions.port), 25)
  t.equal((await there.settings.forUser('user1')).get(definitions.theme), 'light')
})

test('users whose values changed elsewhere are loaded again, the others stay', async (t) => {
  const { here, there } = await createTwo(t)
  await there.settings.forUser('alice')
  await there.settings.forUser('bob')
  await here.settings.contract.setSetting('app.theme', 'dark', User, 'alice')
  t.equal((await there.settings.forUser('alice')).get(definitions.theme), 'light', 'not yet known')
  await there.settings.refresh()
  t.equal((await there.settings.forUser('alice')).get(definitions.theme), 'dark')
  t.equal((await there.settings.forUser('bob')).get(definitions.theme), 'light')
})

test('a write here on top of unseen writes elsewhere brings both', async (t) => {
  const { here, there } = await createTwo(t)
  await here.settings.contract.setSetting('mail.port', 25, System)
  await there.settings.contract.setSetting('app.title', 'two', Application)
  t.equal(there.settings.get(definitions.title), 'two')
  t.equal(there.settings.get(definitions.port), 25)
  t.equal(there.settings.status.revision, 2)
})

for (const [name, open] of Object.entries(sqlEngines))
  test(`${name}: writes at once on top of unseen writes are all there when they resolve`, async (t) => {
    const { store } = await open(t)
    const counted = store(60_000)
    const { news } = counted.shared
    let looks = 0
    Object.assign(counted.shared, { news: (after: number, limit: number) => (looks++, news(after, limit)) })
    const here = await createApp(t, { store: counted })
    const there = await createApp(t, { store: store(60_000) })
    const origins = new Set<string>()
    here.settings.on('mail.port', (_, { origin }) => void origins.add(origin))
    await there.settings.contract.setSetting('app.title', 'unseen', Application)
    looks = 0
    const values = Array.from({ length: 20 }, (_, index) => index + 1)
    const seen = values.map(async (value) => {
      await here.settings.contract.setSetting('mail.port', value, System)
      return here.settings.get(definitions.port) >= value
    })
    t.same(await Promise.all(seen), Array(20).fill(true))
    t.equal(here.settings.get(definitions.title), 'unseen')
    t.equal(here.settings.status.revision, 21)
    t.same([...origins], ['local'])
    t.ok(looks < values.length / 2, `${looks} looks`) // notifications make some, too
  })

for (const failure of ['dead', 'silent'] as const)
  test(`a write on top of unseen writes ends where the database is ${failure} after its commit`, async (t) => {
    const inner = memoryStore()
    const state = { isUp: true }
    let release = (): void => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    async function answer<T>(ask: () => Promise<T>): Promise<T> {
      if (!state.isUp && failure === 'silent') await released
      if (!state.isUp) throw new ServiceUnavailableException('The settings database does not answer.')
      return ask()
    }
    const store = changedStore(inner, {
      shared: { news: (...args) => answer(() => inner.shared.news(...args)) },
      async write(request, write) {
        const written = await write(request)
        state.isUp = false
        return written
      },
    })
    const { settings } = await createApp(t, { store })
    const other = await createApp(t, { store: changedStore(inner, { close: async () => {} }) })
    await other.settings.contract.setSetting('mail.port', 25, System)
    const received: unknown[] = []
    settings.on('*', (value, { origin }) => void received.push([value, origin]))
    await settings.contract.setSetting('app.title', 'mine', Application)
    t.equal(settings.get(definitions.title), 'mine')
    t.equal(settings.stats.writes, 1)
    t.equal(settings.status.revision, 0, 'not all before it is known')
    state.isUp = true
    release()
    await until('what was missing', () => settings.get(definitions.port) === 25)
    t.equal(settings.get(definitions.title), 'mine')
    t.equal(settings.status.revision, 2)
    t.same(received, [
      ['mine', 'local'],
      [25, 'remote'],
    ])
  })

test('while the database is down the last values are served, writes are 503, and status says stale', async (t) => {
  const { here, there, down } = await createTwo(t)
  await here.settings.contract.setSetting('app.title', 'one', Application)
  await there.settings.refresh()
  await there.settings.forUser('alice')
  down.value = true
  await there.settings.refresh()
  t.equal(there.settings.status.state, 'stale')
  t.equal(there.settings.get(definitions.title), 'one')
  t.equal((await as(there, 'alice')('GET', '')).status, 200)
  t.equal((await as(there, 'alice')('GET', '/app.title/resolved')).status, 200)
  const write = await as(there, 'admin')('PUT', '', { key: 'app.title', scope: 1, value: 'two' })
  t.match(write, { status: 503, type: 'application/problem+json', json: { code: 'SERVICE_UNAVAILABLE' } })
  t.match(await rejection(there.settings.contract.setSetting('mail.port', 25, System)), { status: 503 })
  down.value = false
  await there.settings.refresh()
  t.equal(there.settings.status.state, 'ready')
  t.equal(there.settings.get(definitions.title), 'one', 'the refused write left no trace')
})

test('the status is stale as soon as a write fails, whatever the look takes that follows', async (t) => {
  const { here, inner } = await createTwo(t)
  const { news } = inner.shared
  let answer = (): void => {}
  const answered = new Promise<void>((resolve) => (answer = resolve))
  Object.assign(inner.shared, {
    news: async (after: number, limit: number) => (await answered, news(after, limit)),
    write: () => Promise.reject(new ServiceUnavailableException('The settings database does not answer.')),
  })
  t.match(await rejection(here.settings.contract.setSetting('mail.port', 25, System)), { status: 503 })
  t.equal(here.settings.status.state, 'stale')
  answer()
  await until('the answer', () => here.settings.status.state === 'ready')
})

test('a write that changes nothing is read back where it was made', async (t) => {
  const { here, there } = await createTwo(t)
  await here.settings.contract.setSetting('app.title', 'one', Application)
  await here.settings.contract.setSetting('app.theme', 'dark', User, 'alice')
  await there.settings.forUser('bob')
  const put = await as(there, 'admin')('PUT', '', { key: 'app.title', scope: 1, value: 'one' })
  t.equal(put.status, 204)
  t.match((await as(there, 'alice')('GET', '/app.title?scope=1')).json, { value: 'one', version: 1 })
  await there.settings.forUser('alice')
  await here.settings.contract.deleteSetting('app.title', Application)
  await here.settings.contract.deleteSetting('app.theme', User, 'alice')
  t.equal((await as(there, 'admin')('DELETE', '/app.title?scope=1')).status, 204)
  t.equal(there.settings.get(definitions.title), 'Fastify Modular')
  await there.settings.contract.deleteSetting('app.theme', User, 'alice')
  t.equal((await there.settings.forUser('alice')).get(definitions.theme), 'light')
})

test('so is the part of a bulk that changes nothing', async (t) => {
  const { here, there } = await createTwo(t)
  await here.settings.contract.setSetting('app.title', 'one', Application)
  const received: unknown[] = []
  there.settings.on('*', (value, { origin }) => void received.push([value, origin]))
  await there.settings.setMany([
    { key: 'app.title', scope: Application, value: 'one' },
    { key: 'app.banner', scope: Application, value: 'two' },
  ])
  t.equal(there.settings.get(definitions.title), 'one')
  t.same(received, [
    ['one', 'remote'],
    ['two', 'local'],
  ])
})

test('listeners are not called for values that came back to what they were', async (t) => {
  const { here, there, hint } = await createTwo(t)
  await here.settings.contract.setSetting('app.title', 'one', Application)
  hint()
  await until('the first value', () => there.settings.get(definitions.title) === 'one')
  const received: unknown[] = []
  there.settings.on('*', (value) => void received.push(value))
  await here.settings.contract.setSetting('app.title', 'two', Application)
  await here.settings.contract.setSetting('app.title', 'one', Application)
  await here.settings.contract.setSetting('app.banner', 'B', Application)
  hint()
  await until('all of it', () => there.settings.status.revision === 4)
  t.same(received, ['B'])
})

test('a look that fails is repeated until the database answers', async (t) => {
  const { here, there, down, hint } = await createTwo(t)
  await here.settings.contract.setSetting('app.title', 'one', Application)
  down.value = true
  hint()
  await until('the failure', () => there.settings.status.state === 'stale')
  down.value = false
  await until('the next look', () => there.settings.status.state === 'ready')
  t.equal(there.settings.get(definitions.title), 'one')
})

test('callers of catchUp() share one check, however many calls there are meanwhile', async (t) => {
  const { here, there, hint, onLook } = await createTwo(t)
  await here.settings.contract.setSetting('app.title', 'one', Application)
  onLook.run = hint // every look finds that there is something new
  await there.settings.contract.setSetting('app.title', 'one', Application)
  t.equal(there.settings.get(definitions.title), 'one')
  onLook.run = () => {}
})

/** What was logged as a warning or worse. */
function collectWarnings() {
  const lines: string[] = []
  return {
    lines,
    server: logInto(lines),
  }
}

test('two instances that write one value with a short history raise no alarm', async (t) => {
  const { lines, server } = collectWarnings()
  const two = await createTwo(t, { history: { perValue: 5 }, routes: false }, server)
  lines.length = 0
  for (let value = 1; value <= 100; value++) {
    await two[value % 3 === 0 ? 'there' : 'here'].settings.contract.setSetting('mail.port', value, System)
    if (value % 20 === 0) for (const app of [two.here, two.there]) await look(app, two.hint)
  }
  t.same(lines, [])
  t.equal(two.here.settings.get(definitions.port), 100)
  t.equal(two.there.settings.get(definitions.port), 100)
})

test('while changes are not announced the status is stale, until the next one is', async (t) => {
  const inner = memoryStore()
  const watches: StoreWatch[] = []
  const store: StorePort = {
    ...inner,
    async watch(watch) {
      watches.push(watch)
      return async () => {}
    },
  }
  const { settings } = await createApp(t, { store })
  watches[0]?.onLost(new Error('the listener was cut off'))
  t.equal(settings.status.state, 'stale')
  watches[0]?.onHint({ revision: 0, token: '00000000' })
  await settings.refresh()
  t.equal(settings.status.state, 'ready')
})

test('closing stops watching and closes the store, once', async (t) => {
  const calls: string[] = []
  const inner = memoryStore()
  const store: StorePort = {
    ...inner,
    watch: async () => async () => void calls.push('unwatch'),
    close: async () => void calls.push('close'),
  }
  const app = await createApp(t, { store })
  await app.close()
  t.same(calls, ['unwatch', 'close'])
})
