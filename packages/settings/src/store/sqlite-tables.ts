/** The columns of the tables in SQLite, as drizzle reads them; `schema.ts` makes the tables. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { SettingScope } from '../setting-definition.ts'

export type SqliteTables = ReturnType<typeof sqliteTables>

/** `tablePrefix` is put before each name. */
export function sqliteTables(tablePrefix: string) {
  const values = sqliteTable(`${tablePrefix}settings_value`, {
    scope: integer('scope').$type<SettingScope>().notNull(),
    owner: text('owner').notNull(),
    key: text('key').notNull(),
    value: text('value').notNull(),
    encrypted: integer('encrypted', { mode: 'boolean' }).notNull(),
    revision: integer('revision').notNull(),
    updatedAt: integer('updated_at').notNull(),
    updatedBy: text('updated_by'),
  })
  const history = sqliteTable(`${tablePrefix}settings_history`, {
    revision: integer('revision').notNull(),
    scope: integer('scope').$type<SettingScope>().notNull(),
    owner: text('owner').notNull(),
    key: text('key').notNull(),
    oldValue: text('old_value'),
    oldEncrypted: integer('old_encrypted', { mode: 'boolean' }).notNull(),
    newValue: text('new_value'),
    newEncrypted: integer('new_encrypted', { mode: 'boolean' }).notNull(),
    origin: text('origin').notNull(),
    actor: text('actor'),
    requestId: text('request_id'),
    note: text('note'),
    at: integer('at').notNull(),
    // Counts the writes of owners' values.
    seq: integer('seq').notNull(),
    token: text('token').notNull(),
    setSize: integer('set_size').notNull(),
  })
  const meta = sqliteTable(`${tablePrefix}settings_meta`, {
    name: text('name').notNull(),
    value: text('value').notNull(),
  })
  return { values, history, meta }
}
