/** A user who is erased is in no answer of any instance any more, and old tags of the user are refused. */
import { ServiceUnavailableException } from '@fastify-modular/core'
import { SettingScope } from '@fastify-modular/settings'
import { test } from 'tap'
import { until } from '../contract/case.ts'
import { as, createApp, definitions, logInto, rejection } from '../support/app.ts'
import { changedStore } from '../support/changed-store.ts'
import { engines } from '../support/engines.ts'
import { memoryStore } from '../support/stores.js'

const { Application, User } = SettingScope

for (const [name, open] of Object.entries(engines)) {
  test(`${name}: an erased user is no writer of shared values in any instance`, async (t) => {
    const newStore = await open(t, { pollInterval: 50 })
    const here = await createApp(t, { store: newStore() })
    await here.settings.contract.setSetting('app.title', 'Acme', Application, undefined, { actor: 'mallory' })
    const there = name === 'memory' ? here : await createApp(t, { store: newStore() })
    const list = async (app: typeof here) => (await as(app, 'admin')('GET', '')).text
    t.match(await list(here), /mallory/)
    t.match(await list(there), /mallory/)
    await here.settings.eraseUser('mallory')
    t.notMatch(await list(here), /mallory/)
    await until('the other instance', async () => !/mallory/.test(await list(there)))
  })
}

test('an erased user is no writer of the values of others, whatever these have cached', async (t) => {
  const app = await createApp(t)
  const alice = as(app, 'alice')
  await app.settings.contract.setSetting('app.theme', 'dark', User, 'alice', { actor: 'mallory' })
  for (const path of ['?scope=2', '/me']) {
    await app.settings.contract.setSetting('app.theme', path === '/me' ? 'light' : 'dark', User, 'alice', {
      actor: 'mallory',
    })
    const before = await alice('GET', path)
    t.match(before.text, /mallory/)
    await app.settings.eraseUser('mallory')
    const after = await alice('GET', path, undefined, { 'if-none-match': String(before.headers.etag) })
    t.equal(after.status, 200)
    t.notMatch(after.text, /mallory/)
  }
})

for (const [name, open] of Object.entries(engines)) {
  test(`${name}: a tag from before an erasure is refused after it, and names no other content`, async (t) => {
    const newStore = await open(t, { pollInterval: 50 })
    const app = await createApp(t, { store: newStore(), selfService: true })
    const there = name === 'memory' ? app : await createApp(t, { store: newStore() })
    const alice = as(app, 'alice')
    const theme = (value: string) => ({ key: 'app.theme', value })
    for (let round = 0; round < 20; round++) {
      const tag = String((await alice('PUT', '/me', theme('dark'))).headers.etag)
      const lists = await Promise.all(['?scope=2', '/me'].map((path) => alice('GET', path)))
      await there.settings.forUser('alice')
      await app.settings.eraseUser('alice')
      const erasedAt = Date.now()
      await until('another millisecond', () => Date.now() > erasedAt) // versions are times
      const again = String((await alice('PUT', '/me', theme('system'))).headers.etag)
      t.not(again, tag)
      t.equal((await alice('PUT', '/me', theme('light'), { 'if-match': tag })).status, 412)
      for (const [index, path] of ['?scope=2', '/me'].entries()) {
        const known = { 'if-none-match': String(lists[index]?.headers.etag) }
        t.equal((await alice('GET', path, undefined, known)).status, 200)
      }
      await until(
        'the other instance',
        async () => (await there.settings.forUser('alice')).get(definitions.theme) === 'system',
      )
      await app.settings.eraseUser('alice')
    }
  })
}

for (const [name, open] of Object.entries(engines).filter(([engine]) => engine !== 'PostgreSQL')) {
  test(`${name}: the tag of a value that was removed since is refused, though the clock stands or goes back`, async (t) => {
    const app = await createApp(t, { store: (await open(t))(), selfService: true })
    const alice = as(app, 'alice')
    const put = (value: string, headers?: Record<string, string>) =>
      alice('PUT', '/me', { key: 'app.theme', value }, headers)
    const { now } = Date
    t.teardown(() => (Date.now = now))
    const start = now()
    for (const time of [start, start - 60 * 60_000]) {
      Date.now = () => time
      const tag = String((await put('dark')).headers.etag)
      t.equal((await alice('DELETE', '/me/app.theme')).status, 204)
      const again = String((await put('light')).headers.etag)
      t.ok(again > tag, `${again} after ${tag}`)
      t.equal((await put('dark', { 'if-match': tag })).status, 412)
    }
  })
}

test('an erasure whose answer was lost is in memory all the same', async (t) => {
  const inner = memoryStore()
  const store = changedStore(inner, {
    owned: {
      async erase(owner) {
        await inner.owned.erase(owner)
        throw new ServiceUnavailableException('The answer of the database was lost.')
      },
    },
  })
  const app = await createApp(t, { store })
  const { settings } = app
  await settings.contract.setSetting('app.theme', 'dark', User, 'alice')
  await settings.contract.setSetting('app.title', 'Acme', Application, undefined, { actor: 'mallory' })
  await settings.forUser('alice')
  t.match(await rejection(settings.eraseUser('alice')), { status: 503 })
  t.equal((await settings.forUser('alice')).get(definitions.theme), 'light')
  t.match(await rejection(settings.eraseUser('mallory')), { status: 503 })
  t.notMatch((await as(app, 'admin')('GET', '/')).text, /mallory/)
})

test('an erasure that fails after a portion has its line for auditors', async (t) => {
  const inner = memoryStore()
  let isDown = false
  const store = changedStore(inner, {
    owned: {
      async erase(owner) {
        if (isDown) throw new ServiceUnavailableException('The database was stopped.')
        isDown = true
        return { ...(await inner.owned.erase(owner)), isDone: false }
      },
    },
  })
  const lines: string[] = []
  const { settings } = await createApp(t, { store }, logInto(lines, 'info'))
  await settings.set('app.theme', 'dark', { userId: 'mallory' })
  await t.rejects(settings.eraseUser('mallory'), /was stopped/)
  const audited = lines.map((line) => JSON.parse(line)).filter(({ audit }) => audit === 'settings.erase')
  t.match(audited, [{ audit: 'settings.erase', values: 1, complete: false }])
  t.equal(audited.length, 1)
})
