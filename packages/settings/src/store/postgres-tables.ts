/** The columns of the tables in PostgreSQL, as drizzle reads them; `schema.ts` makes the tables. */
import { bigint, boolean, customType, integer, PgSchema, pgTable, smallint, text } from 'drizzle-orm/pg-core'
import type { SettingScope } from '../setting-definition.ts'
import type { PostgresTableNames } from './options.ts'

const xid8 = customType<{ data: string }>({ dataType: () => 'xid8' })

export type PostgresTables = ReturnType<typeof postgresTables>

/** Times are milliseconds since the epoch. */
export function postgresTables({ schema, tablePrefix = '' }: PostgresTableNames) {
  // The class, because pgSchema() refuses the name `public`; the two functions differ in nothing but a type.
  const table = schema === undefined ? pgTable : (new PgSchema(schema).table as unknown as typeof pgTable)
  const values = table(`${tablePrefix}settings_value`, {
    scope: smallint('scope').$type<SettingScope>().notNull(),
    owner: text('owner').notNull(),
    key: text('key').notNull(),
    value: text('value').notNull(),
    encrypted: boolean('encrypted').notNull(),
    revision: bigint('revision', { mode: 'number' }).notNull(),
    updatedAt: bigint('updated_at', { mode: 'number' }).notNull(),
    updatedBy: text('updated_by'),
  })
  const history = table(`${tablePrefix}settings_history`, {
    revision: bigint('revision', { mode: 'number' }).notNull(),
    scope: smallint('scope').$type<SettingScope>().notNull(),
    owner: text('owner').notNull(),
    key: text('key').notNull(),
    oldValue: text('old_value'),
    oldEncrypted: boolean('old_encrypted').notNull(),
    newValue: text('new_value'),
    newEncrypted: boolean('new_encrypted').notNull(),
    origin: text('origin').notNull(),
    actor: text('actor'),
    requestId: text('request_id'),
    note: text('note'),
    at: bigint('at', { mode: 'number' }).notNull(),
    // The transaction: what commits late is found by it.
    xid: xid8('xid').notNull(),
    token: text('token').notNull(),
    setSize: integer('set_size').notNull(),
  })
  const meta = table(`${tablePrefix}settings_meta`, {
    name: text('name').notNull(),
    value: text('value').notNull(),
  })
  return { values, history, meta }
}
