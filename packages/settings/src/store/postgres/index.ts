/** @fastify-modular/settings/postgres: settings in a PostgreSQL database. */
export type { PostgresTableNames } from '../options.ts'
export { printSql } from './print-sql.ts'
export { postgres, type PostgresOptions, type PostgresSource } from './postgres.ts'
