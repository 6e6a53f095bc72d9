/** Subpath `core/events/pg-boss`: optional peers pg and pg-boss. */
export type { PgConnection, PgPool } from './database.ts'
export { pgBoss, type PgBossCommonOptions, type PgBossOptions } from './pg-boss.ts'
