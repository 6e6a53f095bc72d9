/** The databases of the tests that every store passes. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StorePort } from '#src/store/store.js'
import { type Teardown, testDatabase } from '@fastify-modular/test-support/postgres'
import type { Test } from 'tap'
import { patient } from '../store/postgres/open-store.ts'
import { memoryStore, sqlite, postgres } from './stores.js'

/** Makes an empty database; each call of the result opens one more instance on it. */
type MakeDatabase = (t: Test, options?: { readonly pollInterval?: number }) => Promise<() => StorePort>

export const engines: Readonly<Record<'memory' | 'SQLite' | 'PostgreSQL', MakeDatabase>> = {
  memory: async () => {
    const store = memoryStore()
    return () => store
  },
  SQLite: async (t) => {
    const file = await newFile(t)
    return () => sqlite({ file })
  },
  PostgreSQL: async (t, options) => {
    const { url } = await testDatabase(t)
    return () => postgres({ connectionString: url }, { timeouts: patient, ...options })
  },
}

/** The path of a database file in a folder of its own. */
export async function newFile(t: Teardown): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'settings-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return join(folder, 'settings.db')
}
