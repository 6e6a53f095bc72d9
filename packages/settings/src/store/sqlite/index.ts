/** @fastify-modular/settings/sqlite: settings in a SQLite file. */
export { printSql } from './print-sql.ts'
export { sqlite, type SqliteOptions, type SqliteSource } from './sqlite.ts'
