/** Cases: rows go in and come out. */
import assert from 'node:assert/strict'
import { SettingScope } from '#src/setting-definition.js'
import type { RowId, StoredRow } from '#src/store/store.js'
import { change, type ContractCase, pages, revisionOf, rowId, rowOf, set, user, writeAll } from './case.ts'

export const values: Readonly<Record<string, ContractCase>> = {
  'an empty store has revision 0 and no rows': async (store) => {
    assert.equal(await revisionOf(store), 0)
    assert.deepEqual(await store.shared.read(), { revision: 0, token: '00000000', rows: [] })
    assert.deepEqual(await store.owned.read(user('u1')), [])
    assert.equal(await rowOf(store, rowId('a')), undefined)
    assert.deepEqual(await store.scan.values(null, 10), [])
    assert.deepEqual(await store.history({ limit: 10 }), [])
  },

  'a written row is read back with exactly its members': async (store) => {
    const start = Date.now()
    const result = await writeAll(store, [change(rowId('a'), '"x"', true)], { actor: 'ann' })
    const row = await rowOf(store, rowId('a'))
    assert.ok(row && row.updatedAt >= start && row.updatedAt <= Date.now())
    const { updatedAt } = row
    assert.deepEqual(
      { ...row },
      { ...rowId('a'), value: '"x"', encrypted: true, revision: 1, updatedAt, updatedBy: 'ann' },
    )
    assert.equal(result.revision, 1)
    assert.equal(result.at, updatedAt)
    assert.deepEqual(result.changes, [{ ...rowId('a'), revision: 1, before: undefined, after: row }])
    assert.deepEqual(await store.shared.read(), { revision: 1, token: result.token, rows: [row] })
  },

  'a second write replaces the row, null deletes it (S 3.1), and both report the one before': async (
    store,
  ) => {
    await set(store, 'a', '1')
    const first = await rowOf(store, rowId('a'))
    const replaced = await writeAll(store, [change(rowId('a'), '2')], { actor: null })
    const second = await rowOf(store, rowId('a'))
    assert.deepEqual(replaced.changes, [{ ...rowId('a'), revision: 2, before: first, after: second }])
    assert.deepEqual([second?.value, second?.revision, second?.updatedBy], ['2', 2, null])
    assert.deepEqual(await store.shared.read(), { revision: 2, token: replaced.token, rows: [second] })
    const deleted = await writeAll(store, [change(rowId('a'), null)])
    assert.deepEqual(deleted, {
      revision: 3,
      token: deleted.token,
      at: deleted.at,
      changes: [{ ...rowId('a'), revision: 3, before: second, after: undefined }],
    })
    assert.deepEqual(await store.shared.read(), { revision: 3, token: deleted.token, rows: [] })
  },

  'a key has one row per scope and owner, and none is mixed up with another (S 2.2)': async (store) => {
    const system = { scope: SettingScope.System, owner: '', key: 'a' }
    const tenant = rowId('a', 'u1', SettingScope.Tenant)
    await writeAll(store, [change(system, '0'), change(rowId('a'), '1')])
    for (const [id, value] of [
      [rowId('a', 'u1'), '2'],
      [rowId('a', 'u2'), '3'],
      [tenant, '4'],
    ] as const)
      await set(store, id, value)
    const valuesOf = (rows: readonly StoredRow[]) => rows.map(({ scope, value }) => `${scope} ${value}`)
    assert.deepEqual(valuesOf((await store.shared.read()).rows), ['0 0', '1 1'])
    assert.deepEqual(valuesOf(await store.owned.read(user('u1'))), ['2 2'])
    await set(store, rowId('a', 'u1'), null)
    assert.deepEqual(await store.owned.read(user('u1')), [])
    assert.equal((await rowOf(store, rowId('a', 'u2')))?.value, '3')
    assert.equal((await rowOf(store, tenant))?.value, '4')
    assert.equal((await rowOf(store, system))?.value, '0')
    assert.deepEqual(await store.owned.read(user('')), [], 'no user is served as the empty user')
  },

  'value text comes back byte for byte': async (store) => {
    const texts = [
      '""',
      '{"b":1,"a":2,"a":3}',
      '12345678901234567890',
      '-0',
      String.raw`"\u0000 \\ \" \n ' \" $1 ? %s"`,
      '"ä € 😀 \u2028 \u202e"',
      `"${'x'.repeat(65_536)}"`,
    ]
    await writeAll(
      store,
      texts.map((text, index) => change(rowId(`k${index}`), text)),
    )
    for (const [index, text] of texts.entries()) {
      assert.equal((await rowOf(store, rowId(`k${index}`)))?.value, text)
    }
  },

  'names are data: quotes and SQL in them are kept as they are': async (store) => {
    const names = [
      "o'hara",
      '"; drop table settings_value; --',
      '$1',
      '?',
      '%',
      '{a,b}',
      'NULL',
      '\\',
      'a\tb\nc',
    ]
    for (const name of names) await set(store, rowId('k', name), '1')
    for (const name of names) assert.equal((await store.owned.read(user(name)))[0]?.owner, name)
    assert.deepEqual(await store.owned.read(user('o_hara')), [])
  },

  'what was read is not the store: changing it changes nothing': async (store) => {
    const result = await set(store, 'a', '1')
    const read = await store.shared.read()
    for (const row of [...read.rows, result.changes[0]?.after, ...(await store.scan.values(null, 1))]) {
      if (row) Reflect.set(row, 'value', '"changed"')
    }
    assert.equal((await rowOf(store, rowId('a')))?.value, '1')
  },

  'scans visit all rows of all scopes in order, and all history, oldest first, page by page': async (
    store,
  ) => {
    await set(store, [rowId('b'), rowId('a')], '1')
    for (const id of [
      rowId('a', 'u2'),
      rowId('c', 'u1'),
      rowId('a', 'u1'),
      rowId('a', 'u1', SettingScope.Tenant),
    ])
      await set(store, [id], '1')
    for (const value of ['1', null]) await set(store, rowId('unset', 'u1'), value)
    const name = ({ scope, owner, key }: RowId) => `${scope} ${owner} ${key}`
    const values = ['1  a', '1  b', '2 u1 a', '2 u1 c', '2 u2 a', '3 u1 a']
    for (const limit of [1, 2]) assert.deepEqual((await pages(store.scan.values, limit)).map(name), values)
    const entries = await pages(store.scan.history, 1)
    assert.deepEqual(entries.slice(0, 2).map(name), ['1  a', '1  b'], 'also inside a revision')
    const revisions = entries.map(({ revision }) => revision)
    assert.deepEqual(
      revisions,
      revisions.toSorted((a, b) => a - b),
    )
    assert.equal(entries.length, 8)
  },

  'the rows of all keys and scopes but given ones are counted by scope and key': async (store) => {
    await set(store, [{ ...rowId('gone'), scope: SettingScope.System }], '1')
    for (const owner of ['', 'u1', 'u2', 'u3'])
      await set(store, [rowId('gone', owner), rowId('known', owner)], '1')
    await set(store, rowId('gone', 'u1', SettingScope.Tenant), '1')
    await set(store, rowId('gone', 'u3'), null)
    const everywhere = (...keys: readonly string[]) =>
      keys.flatMap((key) => Object.values(SettingScope).map((scope) => ({ scope, key })))
    const orphans = await store.orphans(everywhere('known', 'none'))
    const expected = [1, 1, 2, 1].map((rows, scope) => ({ key: 'gone', scope, rows }))
    assert.deepEqual(
      orphans.map((count) => ({ ...count })),
      expected,
    )
    assert.deepEqual(await store.orphans(everywhere('gone', 'known')), [])
    const moved = [...everywhere('known'), { scope: SettingScope.User, key: 'gone' }]
    assert.equal((await store.orphans(moved)).length, 3, 'a known key in other scopes')
  },
}
