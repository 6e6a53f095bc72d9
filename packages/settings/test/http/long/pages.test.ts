import { setting, SettingScope } from '@fastify-modular/settings'
import { type Test, test } from 'tap'
import { as, createApp } from '../../support/app.ts'
import { memoryStore } from '../../support/stores.js'

const { System, Application } = SettingScope
/** 300 texts of 4,000 bytes, half of them of System scope. */
const keys = Array.from({ length: 300 }, (_, index) => `notes.n${String(index).padStart(3, '0')}`)
const definitions = keys.map((key, index) =>
  setting.multilineText(key, { displayName: key, scope: index % 2 === 0 ? System : Application }),
)
const options = { definitions: [...definitions], limits: { bodyBytes: 4e6 } }

interface Listed {
  readonly key: string
  readonly scope: number
}

/** A change set of 300 entries with 1.2 MB of text, and one of a single entry. */
async function filled(t: Test) {
  const app = await createApp(t, options)
  const bulk = keys.map((key, index) => ({ key, scope: index % 2, value: 'x'.repeat(3998) }))
  await as(app, 'admin')('PUT', '/bulk', bulk)
  await as(app, 'admin')('PUT', '', { key: keys[1], scope: 1, value: 'short' })
  return app
}

test('a page of changes may end within a revision, and the next one goes on there', async (t) => {
  const admin = as(await filled(t), 'admin')
  const first = (await admin('GET', '/changes?limit=500')).json
  t.equal(first.changes.length, 2)
  const [, part] = first.changes
  // 4,005 bytes are of the newer revision; 64 texts of 4,000 fit behind them into 256 KiB.
  t.equal(part.entries.length, 64)
  const last: Listed = part.entries.at(-1)
  t.equal(first.next, `1:${last.scope}:${last.key}`, 'the revision and the key of the last entry')
  const seen = part.entries.map(({ key }: Listed) => key)
  for (let { next } = first; next !== null;) {
    const { json } = await admin('GET', `/changes?limit=500&before=${next}`)
    t.match(json.changes, [{ revision: 1, actor: 'admin', at: part.at }])
    t.ok(json.changes[0].entries.every(({ setSize }: { setSize: number }) => setSize === 300))
    seen.push(...json.changes[0].entries.map(({ key }: Listed) => key))
    next = json.next
  }
  t.same(seen.toSorted(), keys)
  t.equal(new Set(seen).size, 300)

  const few = (await admin('GET', '/changes?limit=2')).json
  t.equal(few.next, `1:${few.changes[1].entries[0].scope}:${few.changes[1].entries[0].key}`)
})

test('in process a page is bounded alike', async (t) => {
  const { settings } = await filled(t)
  const seen: string[] = []
  let before: string | undefined
  for (let page = 0; page < 6; page++) {
    const { entries, next } = await settings.history({ limit: 500, ...(before && { before }) })
    seen.push(...entries.map(({ revision, key }) => `${revision} ${key}`))
    before = next ?? undefined
    if (next === null) break
  }
  t.equal(new Set(seen).size, 301)
  t.equal(before, undefined)
  for (const rubbish of ['', '1', '1:7:a', 'a:1:b', '1:1:'])
    await t.rejects(settings.history({ before: rubbish }), { code: 'ARGUMENT' }, rubbish)
})

test('a page shows each value whole, one entry at least whatever its length', async (t) => {
  const app = await createApp(t, { limits: { longBytes: 1e6, bodyBytes: 2e6 } })
  const editor = as(app, 'editor')
  const values = ['x'.repeat(200_000), 'y'.repeat(300_000)]
  for (const value of values)
    await app.settings.contract.setSetting('app.feature_json', value, Application, undefined, {
      actor: 'editor',
    })
  const newest = (await editor('GET', '/app.feature_json/history')).json
  t.match(newest, { entries: [{ oldValue: values[0], newValue: values[1] }], next: '2:1:app.feature_json' })
  const before = (await editor('GET', `/app.feature_json/history?before=${newest.next}`)).json
  t.match(before, { entries: [{ oldValue: null, newValue: values[0] }], next: null })
})

test('what is not JSON in the database breaks no answer', async (t) => {
  const store = memoryStore()
  const app = await createApp(t, { store })
  const row = { scope: Application, owner: '', key: 'app.feature_json' }
  for (const value of ['{"__proto__":1,"a":1}', 'no json', '[1'])
    await store.shared.write({
      actor: null,
      origin: 'sql',
      reads: [row],
      decide: () => [{ ...row, value, encrypted: false }],
    })
  const { text, json } = await as(app, 'editor')('GET', '/app.feature_json/history')
  t.match(text, '"newValue":{"__proto__":1,"a":1}')
  t.match(json.entries, [{ newValue: null }, { newValue: null }])
})
