/** @fastify-modular/settings/postgres: settings in a PostgreSQL database. */
export type { MigrateMode, PostgresTableNames } from '../options.ts'
export { printSql } from './print-sql.ts'
export { postgres, type PostgresOptions, type PostgresPool, type PostgresSource } from './postgres.ts'
