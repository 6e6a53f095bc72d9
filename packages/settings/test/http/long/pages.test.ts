import { memoryStore, setting, SettingScope } from '@fastify-modular/settings'
import { type Test, test } from 'tap'
import { as, createApp } from '../../support/app.ts'

const { System, Application } = SettingScope
/** 300 texts of 4,000 bytes, half of them of System scope. */
const keys = Array.from({ length: 300 }, (_, index) => `notes.n${String(index).padStart(3, '0')}`)
const definitions = keys.map((key, index) =>
  setting.multilineText(key, { displayName: key, scope: index % 2 === 0 ? System : Application }),
)
const options = { definitions: [...definitions], limits: { bulkBytes: 4e6 } }

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
  // 4,005 bytes are of the newer revision; 261 texts of 4,000 fit behind them into 1 MiB.
  t.equal(part.entries.length, 261)
  const last: Listed = part.entries.at(-1)
  t.equal(first.next, `1:${last.scope}:${last.key}`, 'the revision and the key of the last entry')
  const second = (await admin('GET', `/changes?limit=500&before=${first.next}`)).json
  t.equal(second.next, null)
  t.match(second.changes, [{ revision: 1, actor: 'admin', at: part.at }])
  const seen = [...part.entries, ...second.changes[0].entries].map(({ key }: Listed) => key)
  t.same(seen.toSorted(), keys)
  t.equal(new Set(seen).size, 300)

  const few = (await admin('GET', '/changes?limit=2')).json
  t.equal(few.next, `1:${few.changes[1].entries[0].scope}:${few.changes[1].entries[0].key}`)
})

test('in process a page is bounded alike', async (t) => {
  const { settings } = await filled(t)
  const seen: string[] = []
  let before: string | undefined
  for (let page = 0; page < 3; page++) {
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

test('a value of more than 4 KiB is shown by its length and digest, and whole on its own', async (t) => {
  const app = await createApp(t)
  const editor = as(app, 'editor')
  const write = async (value: unknown) => editor('PUT', '', { key: 'app.feature_json', scope: 1, value })
  const [fits, long] = ['x'.repeat(4094), `ä${'x'.repeat(4093)}`] // with their quotes 4,096 and 4,097 bytes
  await write(fits)
  await write(long)
  await write({ length: 1, digest: 'not a digest' })
  await write(long)
  await write('y'.repeat(5000))
  const { entries } = (await editor('GET', '/app.feature_json/history')).json
  const shown = { length: 4097, digest: String }
  t.match(entries, [
    { oldValue: shown, newValue: { length: 5002, digest: String }, long: ['oldValue', 'newValue'] },
    { oldValue: { length: 1, digest: 'not a digest' }, newValue: shown, long: ['newValue'] },
    { oldValue: shown, newValue: { length: 1, digest: 'not a digest' }, long: ['oldValue'] },
    { oldValue: fits, newValue: shown, long: ['newValue'] },
    { oldValue: null, newValue: fits, long: [] },
  ])
  t.equal(entries[1].newValue.digest, entries[3].newValue.digest, 'equal values, equal digests')
  t.not(entries[0].newValue.digest, entries[0].oldValue.digest)
  const whole = await editor('GET', '/app.feature_json/history/2?scope=1')
  t.match(whole, { status: 200, json: { revision: 2, oldValue: fits, newValue: long, actor: 'editor' } })
  t.equal(whole.headers['cache-control'], 'no-store')
  t.equal((await editor('GET', '/app.feature_json/history/99')).status, 404)
  t.equal((await editor('GET', '/no.such/history/1')).status, 404)
  t.equal((await editor('GET', '/app.title/history/1')).status, 404, 'another setting’s revision')
})

test('stored text stands in the history as it is stored', async (t) => {
  const store = memoryStore()
  const app = await createApp(t, { store })
  const row = { scope: Application, userId: '', key: 'app.feature_json' }
  for (const value of ['[1.0, 12345678901234567890]', '{"__proto__":1,"a":1,"a":2}', 'no json', '[1'])
    await store.shared.write({
      actor: null,
      origin: 'sql',
      reads: [row],
      decide: () => [{ ...row, value, sealed: false }],
    })
  const { text, json } = await as(app, 'editor')('GET', '/app.feature_json/history')
  t.match(text, '"newValue":[1.0, 12345678901234567890]')
  t.match(text, '"newValue":{"__proto__":1,"a":1,"a":2}')
  t.match(json.entries, [{ newValue: null }, { newValue: null }], 'what is not JSON breaks no answer')
  t.match((await as(app, 'editor')('GET', '/app.feature_json/history/1')).text, '[1.0, 12345678901234567890]')
})

test('the history of a value is trimmed by the writes of it, not only once a day', async (t) => {
  const app = await createApp(t, { history: { perValue: 3 } })
  const all = await createApp(t, { history: false })
  for (let value = 1; value <= 30; value++)
    for (const { settings } of [app, all]) await settings.setSetting('mail.port', value, System)
  const { entries } = await app.settings.history({ key: 'mail.port', scope: System })
  t.ok(entries.length >= 3 && entries.length <= 10, `${entries.length} entries`)
  t.equal(entries[0]?.newValue, 30)
  t.equal((await all.settings.history({ key: 'mail.port', scope: System })).entries.length, 30)
})
