/** @fastify-modular/settings/postgres: settings in a PostgreSQL database. */
export type { MigrateMode } from '../options.ts'
export { printSql } from './migrations.ts'
export type { PostgresTableNames } from '../postgres-tables.ts'
export { postgres, type PostgresOptions, type PostgresPool, type PostgresSource } from './postgres.ts'
