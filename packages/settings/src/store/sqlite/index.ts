/** @fastify-modular/settings/sqlite: settings in a SQLite file. */
export type { MigrateMode } from '../options.ts'
export { printSql } from './print-sql.ts'
export { sqlite, type SqliteDatabase, type SqliteOptions, type SqliteSource } from './sqlite.ts'
