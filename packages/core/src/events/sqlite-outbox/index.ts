/** Subpath `core/events/sqlite-outbox`: optional peer better-sqlite3. */
export type { SqliteDatabase } from './database.ts'
export { sqliteOutbox, type SqliteOutboxOptions } from './sqlite-outbox.ts'
