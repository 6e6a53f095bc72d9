/** Names of people beside their ids, for those who may change what the answer is about. */
import { setImmediate } from 'node:timers/promises'
import type { FindPeople } from '@fastify-modular/settings'
import { test } from 'tap'
import { createPeople } from '#src/http/people.js'
import { until } from '#src/testing/contract/case.js'
import { as, createApp, logInto } from '../support/app.ts'

const title = (value: unknown, more: object = {}) => ({ key: 'app.title', scope: 1, value, ...more })
const names: Readonly<Record<string, string>> = { admin: 'Ada', editor: 'Eli', nobody: 'Nobody' }

/** Answers for the people of `names`, and remembers who was asked for. */
function directory() {
  const asked: (readonly string[])[] = []
  const people: FindPeople = async (ids) => {
    asked.push(ids)
    return names
  }
  return { asked, people }
}

test('history, changes, conflicts and single values name the people in that very answer', async (t) => {
  const { asked, people } = directory()
  const app = await createApp(t, { findPeople: people })
  const [admin, editor] = [as(app, 'admin'), as(app, 'editor')]
  await admin('PUT', '', title('one'))
  await editor('PUT', '', title('two'))
  t.same((await admin('GET', '/app.title/history')).json.people, { admin: 'Ada', editor: 'Eli' })
  t.same((await admin('GET', '/app.title/history?limit=1')).json.people, { editor: 'Eli' })
  t.same((await admin('GET', '/changes')).json.people, { admin: 'Ada', editor: 'Eli' })
  t.same((await editor('GET', '/app.title?scope=1')).json.people, { editor: 'Eli' })
  t.same((await editor('GET', '/app.banner?scope=1')).json.people, {}, 'nobody wrote it')
  const stale = await admin('PUT', '/bulk', [title('three', { version: 1 })])
  t.match(stale, { status: 409, json: { conflicts: [{ updatedBy: 'editor' }] } })
  t.same(stale.json.people, { editor: 'Eli' })
  t.match(await admin('POST', '/changes/1/revert', {}), { status: 409, json: { people: { editor: 'Eli' } } })
  t.same(
    asked,
    [['admin', 'editor']].map((ids) => ids.toReversed()),
    'each is asked for once',
  )
})

test('who may not change a setting gets no names', async (t) => {
  const { asked, people } = directory()
  const app = await createApp(t, { findPeople: people })
  await as(app, 'admin')('PUT', '/bulk', [title('one'), { key: 'mail.port', scope: 0, value: 25 }])
  t.notOk('people' in (await as(app, 'alice')('GET', '/app.title?scope=1')).json)
  t.notOk('people' in (await as(app, 'editor')('GET', '/mail.port?scope=0')).json, 'System')
  t.same(asked, [])
})

test('an answer does not wait for names, and no failure of the host is its own', async (t) => {
  const lines: string[] = []
  const { logger } = logInto(lines)
  const signals: AbortSignal[] = []
  const hosts: Readonly<Record<string, FindPeople>> = {
    silent: (_ids, signal) => (signals.push(signal), new Promise(() => {})),
    failing: () => Promise.reject(new Error('no directory')),
    throwing: () => {
      throw new Error('no directory')
    },
    // @ts-expect-error -- a JavaScript host
    rubbish: async () => ({ admin: 5, editor: null }),
    // @ts-expect-error -- a JavaScript host
    nothing: async () => undefined,
  }
  for (const [name, people] of Object.entries(hosts)) {
    const app = await createApp(t, { findPeople: people }, { logger })
    await as(app, 'admin')('PUT', '', title('one'))
    t.match(await as(app, 'admin')('GET', '/changes'), { status: 200, json: { people: {} } }, name)
  }
  t.equal(signals[0]?.aborted, false, 'names may come later')
  t.equal(lines.filter((line) => line.includes('option findPeople failed')).length, 2)
})

test('names are text of at most 100 characters, and ids are ids whatever they are', async (t) => {
  const long: FindPeople = async (ids) => Object.fromEntries(ids.map((id) => [id, `<b>${'n'.repeat(200)}`]))
  const app = await createApp(t, { findPeople: long })
  for (const actor of ['__proto__', 'toString', ''])
    await app.settings.contract.setSetting('app.title', actor || 'x', 1, undefined, { actor: actor || null })
  const { people } = (await as(app, 'admin')('GET', '/changes')).json
  t.same(Object.keys(people).toSorted(), ['__proto__', 'toString'])
  for (const name of Object.values(people)) t.match(name, /^<b>n{96}…$/)
  const faces: FindPeople = async (ids) => Object.fromEntries(ids.map((id) => [id, '😀'.repeat(200)]))
  const other = await createApp(t, { findPeople: faces })
  await as(other, 'admin')('PUT', '', title('one'))
  t.same((await as(other, 'admin')('GET', '/changes')).json.people, { admin: `${'😀'.repeat(49)}…` })
})

test('answers that wait for the same people ask for them once', async (t) => {
  const asked: (readonly string[])[] = []
  let answer = (_names: typeof names): void => {}
  const people: FindPeople = (ids) => (asked.push(ids), new Promise((resolve) => (answer = resolve)))
  const app = await createApp(t, { findPeople: people })
  await as(app, 'admin')('PUT', '', title('one'))
  const answers = Promise.all(
    ['/changes', '/app.title/history', '/changes'].map((url) => as(app, 'admin')('GET', url)),
  )
  await until('the question', () => asked.length > 0)
  answer(names)
  for (const { json } of await answers) t.same(json.people, { admin: 'Ada' })
  t.same(asked, [['admin']])
})

test('names that come late are in the next answer, and who failed is not asked again at once', async (t) => {
  const asked: string[] = []
  let answer = (_names: typeof names): void => {}
  const hosts: Readonly<Record<string, FindPeople>> = {
    late: () => (asked.push('late'), new Promise((resolve) => (answer = resolve))),
    failing: () => (asked.push('failing'), Promise.reject(new Error('no directory'))),
  }
  for (const [name, people] of Object.entries(hosts)) {
    const app = await createApp(t, { findPeople: people })
    await as(app, 'admin')('PUT', '', title('one'))
    for (const url of ['/changes', '/app.title/history'])
      t.same((await as(app, 'admin')('GET', url)).json.people, {}, name)
    answer(names)
    const { people: found } = (await as(app, 'admin')('GET', '/changes')).json
    t.same(found, name === 'late' ? { admin: 'Ada' } : {}, name)
  }
  t.same(asked, ['late', 'failing'])
})

test('a directory that does not answer delays the answers that ask it, and none after them', async (t) => {
  const { log } = await createApp(t)
  const people = createPeople(() => new Promise(() => {}), log)
  await Promise.all([people(['admin']), people(['admin'])])
  let names: unknown
  void people(['admin']).then((found) => (names = found))
  await setImmediate()
  t.same(names, {}, 'at once')
})
