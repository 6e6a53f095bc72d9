/** Users' own values over several instances, their tags, an outage, and the end of a user (decision 66). */
import { ServiceUnavailableException } from '@fastify-modular/core'
import { SettingScope } from '@fastify-modular/settings'
import { type StoreWatch, ownerHash } from '#src/store/store.js'
import { type Test, test } from 'tap'
import { until, user } from '../contract/case.ts'
import { as, createApp, definitions, logInto, rejection } from '../support/app.ts'
import { changedStore } from '../support/changed-store.ts'
import { memoryStore } from '../support/stores.js'

const { Application, User, System } = SettingScope

/** A store that counts its queries, announces users as PostgreSQL does, and may be down. */
function countingStore(inner = memoryStore()) {
  const calls: string[] = []
  const watches: StoreWatch[] = []
  const state = { down: false }
  const counted =
    <A extends readonly unknown[], R>(name: string, call: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> => {
      calls.push(name)
      if (state.down) return Promise.reject(new ServiceUnavailableException('The database is down.'))
      return call(...args)
    }
  const store = changedStore(inner, {
    shared: {
      news: counted('shared.news', (after, limit) => inner.shared.news(after, limit)),
      read: counted('shared.read', () => inner.shared.read()),
    },
    owned: {
      news: counted('owned.news', (since, limit) => inner.owned.news(since, limit)),
      read: counted('owned.read', (owner) => inner.owned.read(owner)),
    },
    write: counted('write', (request, write) => write(request)),
    watch: async (watch) => (watches.push(watch), async () => {}),
  })
  return { store, calls, state, watch: () => watches[0] as StoreWatch }
}

async function createPair(t: Test) {
  const inner = memoryStore()
  const here = await createApp(t, { store: inner })
  const counting = countingStore(inner)
  const there = await createApp(t, { store: counting.store })
  counting.calls.length = 0
  return { here, there, inner, ...counting }
}

test('an instance that does not hold the user does no query when he changes; one that does reads him again', async (t) => {
  const { here, there, calls, watch } = await createPair(t)
  await there.settings.forUser('alice')
  calls.length = 0
  await here.settings.contract.setSetting('app.theme', 'dark', User, 'bob')
  watch().onOwners([ownerHash(user('bob'))])
  t.equal((await there.settings.forUser('alice')).get(definitions.theme), 'light')
  t.same(calls, [])
  await here.settings.contract.setSetting('app.theme', 'dark', User, 'alice')
  watch().onOwners([ownerHash(user('carol')), ownerHash(user('alice'))])
  t.equal((await there.settings.forUser('alice')).get(definitions.theme), 'dark')
  t.same(calls, ['owned.read'])
  watch().onOwners()
  await there.settings.forUser('alice')
  t.same(calls, ['owned.read', 'owned.read'], 'all are forgotten')
})

test('a notice while a user is being read makes that read too old', async (t) => {
  const inner = memoryStore()
  const watches: StoreWatch[] = []
  let read = 0
  const store = changedStore(inner, {
    owned: {
      async read(owner) {
        const rows = await inner.owned.read(owner)
        if (read++ === 0) {
          await (await writer).settings.contract.setSetting('app.theme', 'dark', User, owner.id)
          watches[0]?.onOwners([ownerHash(owner)])
        }
        return rows
      },
    },
    watch: async (watch) => (watches.push(watch), async () => {}),
  })
  const writer = createApp(t, { store: inner })
  const { settings } = await createApp(t, { store })
  watches[0]?.onOwners([ownerHash(user('somebody'))])
  t.equal((await settings.forUser('alice')).get(definitions.theme), 'dark')
})

test('a shared write costs another instance one query, a look without a notice finds users too', async (t) => {
  const { here, there, inner, calls, watch } = await createPair(t)
  await there.settings.forUser('alice')
  calls.length = 0
  await here.settings.contract.setSetting('mail.port', 25, System)
  watch().onHint(await inner.shared.read())
  await until('the value', () => there.settings.get(definitions.port) === 25)
  t.same(calls, ['shared.news'])
  watch().onHint(await inner.shared.read())
  t.same(calls, ['shared.news'], 'a revision that is known is none')
  await here.settings.contract.setSetting('app.theme', 'dark', User, 'alice')
  watch().onHint()
  await until('the look', () => calls.includes('owned.news'))
  await until(
    'the news',
    async () => (await there.settings.forUser('alice')).get(definitions.theme) === 'dark',
  )
})

test('more than 1,000 changed users are all forgotten', async (t) => {
  const { here, there, calls, watch } = await createPair(t)
  await there.settings.forUser('quiet')
  for (let index = 0; index <= 1000; index++)
    await here.settings.contract.setSetting('app.theme', 'dark', User, `user ${index}`)
  calls.length = 0
  watch().onHint()
  await until('the quiet one to be read again', async () => {
    await there.settings.forUser('quiet')
    return calls.includes('owned.read')
  })
})

for (const path of ['?scope=2', '/me']) {
  test(`GET ${path} is tagged by the caller and by all that the answer says`, async (t) => {
    const app = await createApp(t)
    const [alice, bob] = [as(app, 'alice'), as(app, 'bob')]
    const tagOf = async (caller = alice) => String((await caller('GET', path)).headers.etag)
    const empty = await tagOf()
    t.not(empty, await tagOf(bob), 'of the caller')
    await app.settings.contract.setSetting('app.theme', 'dark', User, 'bob')
    t.equal(await tagOf(), empty)
    await app.settings.contract.setSetting('app.theme', 'dark', User, 'alice')
    const dark = await tagOf()
    t.not(dark, empty)
    t.equal((await alice('GET', path, undefined, { 'if-none-match': dark })).status, 304)
    t.equal((await alice('GET', path, undefined, { 'if-none-match': empty })).status, 200)
    for (const value of ['light', 'dark'])
      await app.settings.contract.setSetting('app.theme', value, User, 'alice')
    t.not(await tagOf(), dark, 'a version is not given again')
    const before = await tagOf()
    await app.settings.contract.setSetting('app.title', 'Acme', Application)
    t.equal(await tagOf(), before, 'what it leaves out does not count')
    await app.settings.contract.setSetting('app.theme', 'system', Application)
    if (path === '/me') t.not(await tagOf(), before, 'what is inherited counts')
    else t.equal(await tagOf(), before)
    t.match((await alice('GET', path)).headers, { 'cache-control': 'private, no-cache', vary: /Cookie/ })
  })

  test(`decision 81: while the database is down GET ${path} is 503, and readers in process go on`, async (t) => {
    const { store, state } = countingStore()
    const app = await createApp(t, { store, selfService: true })
    const alice = as(app, 'alice')
    await app.settings.contract.setSetting('app.theme', 'dark', User, 'alice')
    await app.settings.forUser('alice')
    const before = await alice('GET', path)
    state.down = true
    t.match(await alice('GET', path), { status: 503, json: { code: 'SERVICE_UNAVAILABLE' } })
    t.equal((await app.settings.forUser('alice')).get(definitions.theme), 'dark')
    t.equal((await alice('GET', '/app.theme/resolved')).text, '"dark"', 'she is held')
    t.equal((await as(app, 'bob')('GET', '/app.theme/resolved')).status, 503, 'he is not')
    state.down = false
    const theme = before.json.find(({ key }: { key: string }) => key === 'app.theme')
    const tag = { 'if-match': `"r${theme.version}"` }
    t.equal((await alice('PUT', '/me', { key: 'app.theme', value: 'light' }, tag)).status, 204)
  })
}

test('the shared list is not tagged anew by preferences', async (t) => {
  const app = await createApp(t)
  const { etag } = (await as(app, 'alice')('GET', '')).headers
  await app.settings.contract.setSetting('app.theme', 'dark', User, 'alice')
  t.equal((await as(app, 'alice')('GET', '')).headers.etag, etag)
})

test('a row of a user is written on the version that the caller saw, also after it was unset', async (t) => {
  const app = await createApp(t, { selfService: true })
  const alice = as(app, 'alice')
  const put = (value: string, tag?: unknown) =>
    alice('PUT', '/me', { key: 'app.theme', value }, tag === undefined ? {} : { 'if-match': String(tag) })
  const first = (await put('dark', '"r0"')).headers.etag
  t.match(first, /^"r\d{13}"$/)
  t.equal((await put('light', '"r0"')).status, 412)
  const second = (await put('light', first)).headers.etag
  t.match(await put('dark', first), { status: 412, headers: { etag: second } })
  t.equal((await alice('DELETE', '/me/app.theme')).headers.etag, '"r0"')
  t.equal((await put('dark', second)).status, 412)
  const third = (await put('light', '"r0"')).headers.etag
  t.not(third, second)
  t.equal((await alice('GET', '/app.theme?scope=2')).headers.etag, third)
})

test('eraseUser removes a user everywhere and says what is left elsewhere', async (t) => {
  const lines: string[] = []
  const store = memoryStore()
  const app = await createApp(t, { store }, logInto(lines, 'info'))
  const { settings } = app
  for (const theme of ['dark', 'light']) await settings.contract.setSetting('app.theme', theme, User, 'alice')
  await settings.contract.setSetting('app.title', 'Acme', Application, undefined, {
    actor: 'alice',
    note: 'alice asked',
  })
  await settings.forUser('alice')
  t.same(await settings.eraseUser('alice'), {
    values: 1,
    history: 2,
    mentions: 2,
    left: ['backups of the database', 'logs'],
  })
  t.equal((await settings.forUser('alice')).get(definitions.theme), 'light')
  t.notMatch(JSON.stringify([await store.scan.values(null, 10), await store.scan.history(null, 10)]), /alice/)
  t.match(await settings.eraseUser('alice'), { values: 0, history: 0, mentions: 0 })
  const audit = lines.filter((line) => line.includes('were erased'))
  t.equal(audit.length, 2)
  t.notMatch(audit.join(), /alice/)
  t.match(await rejection(settings.eraseUser('')), { status: 400 })
  await settings.contract.setSetting('app.theme', 'dark', User, 'alice')
  t.equal((await settings.forUser('alice')).get(definitions.theme), 'dark', 'she may come back')
})

test('a user whose values change during each read is answered, and read again by the next load', async (t) => {
  const inner = memoryStore()
  let reads = 0
  let isBusy = true
  const busy = changedStore(inner, {
    owned: {
      async read(owner) {
        reads++
        const rows = await inner.owned.read(owner)
        const theme = reads % 2 === 0 ? 'dark' : 'system'
        if (isBusy) await app.settings.set('app.theme', theme, { userId: owner.id })
        return rows
      },
    },
  })
  const app = await createApp(t, { store: busy })
  const read = async () => (await app.settings.forUser('alice')).get(definitions.theme)
  t.equal(await read(), 'dark', 'the last read of three')
  t.equal(reads, 3)
  isBusy = false
  t.same([await read(), await read()], ['system', 'system'])
  t.equal(reads, 4, 'then it is kept')
})
