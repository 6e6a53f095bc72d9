/** The database in one file. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ServiceUnavailableException, sqliteTx } from '@fastify-modular/core'
import { sqliteOutbox } from '@fastify-modular/core/events/sqlite-outbox'
import { sqlite } from '@fastify-modular/settings/sqlite'
import Sqlite from 'better-sqlite3'
import { createTables, type Database, type Publishing, type Row, type Statement } from './database.ts'

/** Milliseconds to wait for other instances. */
const patience = 5000

/** Opens the file, creating it, its folder and the tables where they are missing. */
export async function openSqlite(file: string, tables = createTables): Promise<Database> {
  if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true })
  const connection = new Sqlite(file, { timeout: patience })
  await useLog(connection)
  connection.pragma('synchronous = FULL') // an acknowledged write survives a power loss
  connection.pragma('foreign_keys = ON')

  function run(...[text, values = []]: Statement): Row[] {
    const statement = connection.prepare<[Row], Row>(text)
    const byNumber = Object.fromEntries(values.map((value, index) => [index + 1, value]))
    if (statement.reader) return statement.all(byNumber)
    statement.run(byNumber)
    return []
  }

  const { immediate: write } = connection.transaction(
    (statements: readonly Statement[], publishing?: Publishing) => {
      const rows = statements.flatMap((statement) => run(...statement))
      const tx = sqliteTx(connection)
      for (const row of rows) publishing?.events.publish(publishing.eventOf(row), { tx })
      return rows
    },
  )
  // `immediate` takes the write lock first, so that instances that start together wait for each other.
  if (tables.length > 0) write(tables.map((text) => [text]))

  return {
    query: async (...statement) => ask(() => run(...statement)),
    write: async (...all) => ask(() => write(...all)),
    settingsStore: sqlite({ database: connection }),
    eventTransport: sqliteOutbox({ database: connection }),
    close: async () => void connection.close(),
  }
}

function ask<T>(question: () => T): T {
  try {
    return question()
  } catch (error) {
    throw isDown(error) ? new ServiceUnavailableException(undefined, 5, error) : error
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
