/** @fastify-modular/settings/sqlite: settings in a SQLite file. */
export type { MigrateMode } from '../schema-version.ts'
export type { SqliteSource } from './driver.ts'
export { printSql } from './migrate.ts'
export { sqlite, type SqliteOptions } from './sqlite.ts'
export { settingsTables, type SqliteTables } from './tables.ts'
