/** The tables in PostgreSQL, for drizzle. */
import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  customType,
  index,
  integer,
  PgSchema,
  pgTable,
  primaryKey,
  smallint,
  text,
} from 'drizzle-orm/pg-core'
import type { SettingScope } from '../setting-definition.ts'
import { checkArgument, postgresOptions, type PostgresTableNames } from './options.ts'
import { plainHistory } from './schema.ts'

const xid8 = customType<{ data: string }>({ dataType: () => 'xid8' })

export type PostgresTables = ReturnType<typeof postgresSettingsTables>

/**
 * The tables of the store in PostgreSQL, for applications that make their own migrations with drizzle-kit (`migrate:
 * false`). Times are milliseconds since the epoch.
 * @throws {FMOD_SETTINGS_INVALID_STORE_OPTION}
 */
export function postgresSettingsTables(options: PostgresTableNames = {}) {
  checkArgument('postgres', { name: 'options', schema: postgresOptions, value: options })
  const { schema, tablePrefix = '' } = options
  // The class, because pgSchema() refuses the name `public`; the two functions differ in nothing but a type.
  const table = schema === undefined ? pgTable : (new PgSchema(schema).table as unknown as typeof pgTable)
  const values = table(
    `${tablePrefix}settings_value`,
    {
      scope: smallint('scope').$type<SettingScope>().notNull(),
      // Empty for System and Application: a nullable column would let SQL keep duplicates.
      userId: text('user_id').notNull().default(''),
      key: text('key').notNull(),
      value: text('value').notNull(),
      encrypted: boolean('encrypted').notNull().default(false),
      revision: bigint('revision', { mode: 'number' }).notNull(),
      updatedAt: bigint('updated_at', { mode: 'number' }).notNull(),
      updatedBy: text('updated_by'),
    },
    (row) => [
      primaryKey({ columns: [row.scope, row.userId, row.key] }),
      check(`${tablePrefix}settings_value_user`, sql`(${row.scope} = 2) = (${row.userId} <> '')`),
      index(`${tablePrefix}settings_value_key`).on(row.key, row.scope, row.userId),
      index(`${tablePrefix}settings_value_writer`)
        .on(row.updatedBy)
        .where(sql`${row.updatedBy} <> ${row.userId}`),
    ],
  )
  const history = table(
    `${tablePrefix}settings_history`,
    {
      revision: bigint('revision', { mode: 'number' }).notNull(),
      scope: smallint('scope').$type<SettingScope>().notNull(),
      userId: text('user_id').notNull().default(''),
      key: text('key').notNull(),
      oldValue: text('old_value'),
      oldEncrypted: boolean('old_encrypted').notNull().default(false),
      newValue: text('new_value'),
      newEncrypted: boolean('new_encrypted').notNull().default(false),
      origin: text('origin').notNull(),
      actor: text('actor'),
      requestId: text('request_id'),
      note: text('note'),
      at: bigint('at', { mode: 'number' }).notNull(),
      // The transaction: what commits late is found by it.
      xid: xid8('xid')
        .notNull()
        .default(sql`pg_current_xact_id()`),
      token: text('token').notNull().default(''),
      setSize: integer('set_size').notNull().default(1),
    },
    (row) => [
      primaryKey({ columns: [row.revision, row.scope, row.userId, row.key] }),
      index(`${tablePrefix}settings_history_key`).on(row.key, row.scope, row.userId, row.revision),
      index(`${tablePrefix}settings_history_plain`).on(row.key).where(sql.raw(plainHistory)),
      index(`${tablePrefix}settings_history_shared`)
        .on(row.revision.desc(), row.scope, row.key)
        .where(sql`${row.scope} < 2`),
      index(`${tablePrefix}settings_history_user`)
        .on(row.userId, row.at, row.revision, row.key)
        .where(sql`${row.scope} = 2`),
      index(`${tablePrefix}settings_history_written`)
        .on(row.xid)
        .where(sql`${row.scope} = 2`),
      index(`${tablePrefix}settings_history_at`).on(row.at),
      index(`${tablePrefix}settings_history_actor`)
        .on(row.actor)
        .where(sql`${row.actor} <> ${row.userId}`),
    ],
  )
  const meta = table(`${tablePrefix}settings_meta`, {
    name: text('name').primaryKey(),
    value: text('value').notNull(),
  })
  return { values, history, meta }
}
