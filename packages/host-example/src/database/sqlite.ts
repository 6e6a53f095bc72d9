/** The database in one file. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { ServiceUnavailableException } from '@fastify-modular/core'
import { fromDrizzle } from '@fastify-modular/core/events/drizzle'
import Sqlite from 'better-sqlite3'
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import type { Database, Row } from './database.ts'
import { createTables } from './database.ts'
import { withoutParameters } from './database.ts'

/** Opens the file, creating it, its folder and the tables where they are missing. */
export function openSqlite(file: string): Database & { readonly connection: Sqlite.Database } {
  if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true })
  const connection = new Sqlite(file, { timeout: 5000 })
  connection.pragma('journal_mode = WAL')
  connection.pragma('synchronous = FULL') // an acknowledged write survives a power loss
  connection.pragma('foreign_keys = ON')

  const db = drizzle(connection)
  // `immediate` takes the write lock first, so that instances that start together wait for each other.
  db.transaction((tx) => createTables.forEach((statement) => tx.run(statement)), { behavior: 'immediate' })

  return {
    connection,
    rows: async (statement) => ask(() => db.all<Row>(statement)),
    run: async (statement) => void ask(() => db.run(statement)),
    runAll: async (statements) =>
      ask(() =>
        db.transaction((tx) => statements.forEach((statement) => tx.run(statement)), {
          behavior: 'immediate',
        }),
      ),
    forShare: sql``,
    publishing: async (statement, events, eventOf) =>
      ask(() =>
        db.transaction(
          (tx) => {
            const rows = tx.all<Row>(statement)
            for (const row of rows) events.publish(eventOf(row), { tx: fromDrizzle(tx) })
            return rows
          },
          { behavior: 'immediate' },
        ),
      ),
    close: async () => void connection.close(),
  }
}

function ask<T>(question: () => T): T {
  try {
    return question()
  } catch (error) {
    const cause = withoutParameters(error)
    throw isDown(cause) ? new ServiceUnavailableException(undefined, 5, cause) : cause
  }
}

/** Whether another process holds the file, or it cannot be read or written now. */
function isDown(error: unknown): boolean {
  return (
    error instanceof Sqlite.SqliteError &&
    /^SQLITE_(?:BUSY|LOCKED|FULL|READONLY|IOERR|CANTOPEN)/.test(error.code)
  )
}
