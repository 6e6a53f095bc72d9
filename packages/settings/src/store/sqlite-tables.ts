/** The tables in SQLite, for drizzle. */
import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { SettingScope } from '../setting-definition.ts'
import { checkArgument, sqliteOptions } from './options.ts'
import { plainHistory } from './schema.ts'

export type SqliteTables = ReturnType<typeof sqliteSettingsTables>

/**
 * The tables of the store in SQLite, for applications that make their own migrations with drizzle-kit (`migrate: false`).
 * `tablePrefix` is put before each name, as in the options of the store.
 * @throws {FMOD_SETTINGS_INVALID_STORE_OPTION}
 */
export function sqliteSettingsTables(options: { readonly tablePrefix?: string } = {}) {
  checkArgument('sqlite', { name: 'options', schema: sqliteOptions, value: options })
  const { tablePrefix = '' } = options
  const values = sqliteTable(
    `${tablePrefix}settings_value`,
    {
      scope: integer('scope').$type<SettingScope>().notNull(),
      // Empty for System and Application: a nullable column would let SQL keep duplicates.
      userId: text('user_id').notNull().default(''),
      key: text('key').notNull(),
      value: text('value').notNull(),
      encrypted: integer('encrypted', { mode: 'boolean' }).notNull().default(false),
      revision: integer('revision').notNull(),
      updatedAt: integer('updated_at').notNull(),
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
  const history = sqliteTable(
    `${tablePrefix}settings_history`,
    {
      revision: integer('revision').notNull(),
      scope: integer('scope').$type<SettingScope>().notNull(),
      userId: text('user_id').notNull().default(''),
      key: text('key').notNull(),
      oldValue: text('old_value'),
      oldEncrypted: integer('old_encrypted', { mode: 'boolean' }).notNull().default(false),
      newValue: text('new_value'),
      newEncrypted: integer('new_encrypted', { mode: 'boolean' }).notNull().default(false),
      origin: text('origin').notNull(),
      actor: text('actor'),
      requestId: text('request_id'),
      note: text('note'),
      at: integer('at').notNull(),
      // Counts the writes of users' values.
      seq: integer('seq').notNull().default(0),
      token: text('token').notNull().default(''),
      setSize: integer('set_size').notNull().default(1),
    },
    (row) => [
      primaryKey({ columns: [row.revision, row.scope, row.userId, row.key] }),
      index(`${tablePrefix}settings_history_key`).on(row.key, row.scope, row.userId, row.revision),
      index(`${tablePrefix}settings_history_plain`).on(row.key).where(sql.raw(plainHistory)),
      index(`${tablePrefix}settings_history_shared`)
        .on(sql`${row.revision} desc`, row.scope, row.key)
        .where(sql`${row.scope} < 2`),
      index(`${tablePrefix}settings_history_user`)
        .on(row.userId, row.at, row.revision, row.key)
        .where(sql`${row.scope} = 2`),
      index(`${tablePrefix}settings_history_written`)
        .on(row.seq, row.userId)
        .where(sql`${row.scope} = 2`),
      index(`${tablePrefix}settings_history_at`).on(row.at),
      index(`${tablePrefix}settings_history_actor`)
        .on(row.actor)
        .where(sql`${row.actor} <> ${row.userId}`),
    ],
  )
  const meta = sqliteTable(`${tablePrefix}settings_meta`, {
    name: text('name').primaryKey(),
    value: text('value').notNull(),
  })
  return { values, history, meta }
}
