/** Both databases of the application, each opened as often as a test likes. */
import { join } from 'node:path'
import type { Test } from 'tap'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import type { Database } from '#src/database/database.js'
import { openPostgres } from '#src/database/postgres.js'
import { openSqlite } from '#src/database/sqlite.js'
import { tempFolder } from '../host.js'

const ignore = (): void => {}

export const engines: Record<string, (t: Test) => Promise<() => Promise<Database>>> = {
  sqlite: async (t) => {
    const file = join(await tempFolder(t), 'folder', 'host.sqlite')
    return async () => openSqlite(file)
  },
  postgres: async (t) => {
    const { url } = await testDatabase(t)
    return () => openPostgres(url, ignore)
  },
}
