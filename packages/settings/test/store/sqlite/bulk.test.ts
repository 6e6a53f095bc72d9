import Database from 'better-sqlite3'
import { test } from 'tap'
import { change, rowId, silentLog, writeAll } from '../../contract/case.ts'
import { sqlite } from '../../support/stores.js'

for (const size of [1, 49, 50, 51, 100, 123]) {
  test(`a bulk of ${size} rows stores each of them once, among rows that it deletes`, async (t) => {
    const database = new Database(':memory:')
    t.teardown(() => database.close())
    const store = sqlite({ database })
    await store.open({ log: silentLog })
    const gone = ['b.gone', 'k.gone', 'z.gone'].map((key) => rowId(key))
    await writeAll(
      store,
      gone.map((id) => change(id, '"old"')),
    )
    const ids = Array.from({ length: size }, (_, index) => rowId(`k.${index}`))
    const sets = ids.map((id, index) => change(id, `"value ${index}"`, index % 2 === 1))
    const { changes } = await writeAll(store, [...sets, ...gone.map((id) => change(id, null))])
    t.equal(changes.length, size + gone.length)
    const { rows } = await store.shared.read()
    t.equal(rows.length, size)
    for (const [index, id] of ids.entries()) {
      const row = rows.find(({ key }) => key === id.key)
      t.match(row, {
        ...id,
        value: `"value ${index}"`,
        encrypted: index % 2 === 1,
        revision: 2,
        updatedBy: 'tester',
      })
    }
    t.equal((await store.history({ revision: 2, limit: 500 })).length, size + gone.length)
  })
}
