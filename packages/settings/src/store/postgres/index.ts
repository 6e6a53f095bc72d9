/** @fastify-modular/settings/postgres: settings in a PostgreSQL database. */
export type { MigrateMode } from '../schema-version.ts'
export type { PostgresSource } from './connection.ts'
export { printSql } from './migrate.ts'
export { postgres, type PostgresOptions } from './postgres.ts'
export type { PostgresTableNames } from './names.ts'
export { type PostgresTables, settingsTables } from './tables.ts'
