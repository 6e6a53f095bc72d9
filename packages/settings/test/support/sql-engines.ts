/** Databases of the tests with statements that bypass their stores: what a restore or another program does. */
import type { StorePort } from '#src/store/store.js'
import { type Teardown, testDatabase } from '@fastify-modular/test-support/postgres'
import Database from 'better-sqlite3'
import { Pool } from 'pg'
import { patient } from '../store/postgres/open-store.js'
import { newFile } from './engines.ts'
import { sqlite, postgres } from './stores.js'

/** One database: stores on it, and statements that bypass them. */
export interface SqlEngine {
  /** The file, or the URL. */
  readonly place: string
  readonly store: (pollInterval?: number) => StorePort
  readonly run: (...statements: readonly string[]) => Promise<void>
}

export const sqlEngines = {
  SQLite: async (t: Teardown): Promise<SqlEngine> => {
    const file = await newFile(t)
    return {
      place: file,
      store: (pollInterval = 60_000) => sqlite({ file }, { pollInterval }),
      async run(...statements) {
        const database = new Database(file)
        const runAll = database.transaction(() =>
          statements.forEach((statement) => void database.exec(statement)),
        )
        runAll.immediate() // waits for other writers; one that begins as a reader is refused
        database.close()
      },
    }
  },
  PostgreSQL: async (t: Teardown): Promise<SqlEngine> => {
    const { url } = await testDatabase(t)
    const pool = new Pool({ connectionString: url })
    pool.on('error', () => {}) // dropping the database may end a connection before the pool does
    t.teardown(() => pool.end())
    return {
      place: url,
      store: (pollInterval = 600_000) =>
        postgres({ connectionString: url }, { pollInterval, timeouts: patient }),
      run: async (...statements) => void (await pool.query(`begin; ${statements.join('; ')}; commit`)),
    }
  },
}

/** Goes back to a revision, as a database does that is restored from a backup. */
export function backTo(revision: number): string[] {
  return [
    `delete from settings_value where revision > ${revision}`,
    `delete from settings_history where revision > ${revision}`,
    `update settings_meta set value = coalesce(
      (select '${revision}-' || token from settings_history where scope < 2 and revision = ${revision} limit 1), '${revision}')
      where name = 'revision'`,
  ]
}
