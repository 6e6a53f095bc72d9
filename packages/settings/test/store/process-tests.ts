/** What several processes on one database can rely on (decisions 25, 28, 29). */
import assert from 'node:assert/strict'
import { until } from '../contract/case.ts'
import { acknowledged, startWriter, succeed, verify } from './processes.js'

/** Declares the tests; `makeDatabase` makes an empty one and answers its file or URL. */
export function processTests(
  test: (name: string, run: () => Promise<void>) => unknown,
  makeDatabase: () => Promise<string>,
): void {
  test('eight processes that boot at once migrate once, and their 40 first writes of one key give one row', async () => {
    const database = await makeDatabase()
    const writers = Array.from({ length: 8 }, (_, index) =>
      startWriter({ database, author: `w${index}`, bulks: 5, parallel: 5, rows: 1 }),
    )
    await succeed(writers)
    assert.equal(await verify(database, 1, writers.flatMap(acknowledged)), 40)
  })

  test('six processes write 200 bulks each to the same rows without deadlock', async () => {
    const database = await makeDatabase()
    const writers = Array.from({ length: 6 }, (_, index) =>
      startWriter({ database, author: `w${index}`, bulks: 200 }),
    )
    await succeed(writers)
    assert.equal(await verify(database, 10, writers.flatMap(acknowledged)), 1200)
  })

  test('kill -9 in the middle of many bulks loses no acknowledged write and leaves no half bulk', async () => {
    const database = await makeDatabase()
    const acks: number[] = []
    for (const kill of [1, 40, 90, 150]) {
      const writer = startWriter({
        database,
        author: `until ${kill}`,
        bulks: 1_000_000,
        rows: 50,
        parallel: 3,
      })
      await until(`${kill} bulks`, () => acknowledged(writer).length >= kill)
      await writer.stop('SIGKILL')
      acks.push(...acknowledged(writer))
      await verify(database, 50, acks)
    }
    assert.ok(acks.length >= 281)
  })
}
