/** A page of history costs what a page may cost, whatever was written. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import t, { type Test, test } from 'tap'
import { type Answered, writes } from './reader.ts'

t.setTimeout(900_000)
const reader = fileURLToPath(new URL('./reader.js', import.meta.url))
const run = promisify(execFile)

const databases: Readonly<Record<string, (t: Test) => Promise<string>>> = {
  'the memory store': async () => 'memory',
  SQLite: async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'settings-'))
    t.teardown(() => rm(folder, { recursive: true }))
    return join(folder, 'settings.db')
  },
  PostgreSQL: async (t) => (await testDatabase(t)).url,
}

for (const [name, makeDatabase] of Object.entries(databases)) {
  test(`${name}: 40 writes of 64 KiB are read page by page within a heap of 80 MB`, async (t) => {
    const heap = '--max-old-space-size=80'
    const { stdout } = await run(process.execPath, [heap, reader, await makeDatabase(t)], {
      maxBuffer: 16 * 1024 * 1024,
    })
    const answers: readonly Answered[] = JSON.parse(stdout)
    t.ok(answers.every(({ status }) => status === 200))
    for (const url of ['/changes', '/app.layout/history']) {
      const pages = answers.filter((answer) => answer.url === url)
      const revisions = pages.flatMap((page) => page.revisions)
      t.same(
        revisions,
        Array.from({ length: writes }, (_, index) => writes - index),
      )
      // Two entries of 128 KiB fill 256 KiB; the first entry has no old value.
      t.ok(pages.slice(0, -1).every((page) => page.revisions.length === 2))
      t.ok(pages.every(({ bytes }) => bytes < 260 * 1024))
    }
  })
}
