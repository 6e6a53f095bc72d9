/**
 * `@fastify-modular/settings/drizzle`: the tables of the stores for drizzle-kit. The only entry point whose declarations
 * are those of drizzle-orm, which need `skipLibCheck`.
 */
export { postgresSettingsTables, type PostgresTables } from './postgres-tables.ts'
export { sqliteSettingsTables, type SqliteTables } from './sqlite-tables.ts'
