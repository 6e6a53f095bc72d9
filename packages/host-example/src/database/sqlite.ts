/** The database in one file. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ServiceUnavailableException } from '@fastify-modular/core'
import { drizzleTx } from '@fastify-modular/core/events/drizzle'
import Sqlite from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import type { Database, Row } from './database.ts'
import { createTables } from './database.ts'
import { withoutParameters } from './database.ts'

/** Milliseconds to wait for other instances. */
const patience = 5000

/** Opens the file, creating it, its folder and the tables where they are missing. */
export async function openSqlite(file: string): Promise<Database & { readonly connection: Sqlite.Database }> {
  if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true })
  const connection = new Sqlite(file, { timeout: patience })
  await useLog(connection)
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
    query: async (text, values = []) =>
      ask(() => {
        const statement = connection.prepare<[Row], Row>(text)
        const byNumber = Object.fromEntries(values.map((value, index) => [index + 1, value]))
        if (statement.reader) return statement.all(byNumber)
        statement.run(byNumber)
        return []
      }),
    publishing: async (statement, events, eventOf) =>
      ask(() =>
        db.transaction(
          (tx) => {
            const rows = tx.all<Row>(statement)
            for (const row of rows) events.publish(eventOf(row), { tx: drizzleTx(tx) })
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

/** While another instance writes a new file, SQLite answers at once that it is locked. */
async function useLog(connection: Sqlite.Database): Promise<void> {
  for (const end = Date.now() + patience; ; await delay(20)) {
    try {
      return void connection.pragma('journal_mode = WAL')
    } catch (error) {
      if (!(error instanceof Sqlite.SqliteError) || error.code !== 'SQLITE_BUSY' || Date.now() > end)
        throw error
    }
  }
}
