/** The names of everything that the store has in PostgreSQL, ready for SQL. */
import { checkIdentifier } from '../identifiers.ts'

/** Where the tables are; the same as in the options of the store. */
export interface PostgresTableNames {
  readonly schema?: string
  readonly tablePrefix?: string
}

export interface PostgresNames {
  readonly schema: string | undefined
  readonly prefix: string
  /** Quoted, with the schema. */
  readonly values: string
  readonly history: string
  readonly meta: string
  /** Of the advisory lock, of NOTIFY and of prepared statements: stores beside each other do not share it. */
  readonly channel: string
}

/** @throws {FMOD_SETTINGS_INVALID_STORE_OPTION} a name would need quoting, or be cut by PostgreSQL */
export function postgresNames({ schema, tablePrefix = '' }: PostgresTableNames): PostgresNames {
  if (schema !== undefined) checkIdentifier('postgres', 'schema', schema)
  if (tablePrefix !== '') checkIdentifier('postgres', 'tablePrefix', tablePrefix)
  const table = (name: string): string =>
    `${schema === undefined ? '' : `"${schema}".`}"${tablePrefix}${name}"`
  return {
    schema,
    prefix: tablePrefix,
    values: table('settings_value'),
    history: table('settings_history'),
    meta: table('settings_meta'),
    channel: [schema, tablePrefix, 'settings'].filter(Boolean).join('.'),
  }
}
