/** The names of everything that the store has in PostgreSQL, ready for SQL. */
import { createHash } from 'node:crypto'
import type { PostgresTableNames } from '../options.ts'

export interface PostgresNames {
  readonly schema: string | undefined
  readonly prefix: string
  /** Quoted, with the schema. */
  readonly values: string
  readonly history: string
  readonly meta: string
  /** Of the advisory lock and of NOTIFY. A hint of another store costs one look, so that sharing it does no harm. */
  readonly channel: string
  /** Of NOTIFY for users' values. */
  readonly userChannel: string
  /** The advisory lock of a user, for writes of the user's rows and for an erasure. */
  readonly userLock: (userId: string) => string
  /** The name of a prepared statement, which stores on the same connections must not share; empty where none is kept. */
  readonly statement: (name: string) => string
}

/** The names of a store whose options were checked: none of them needs quoting, and PostgreSQL cuts none. */
export function postgresNames(
  { schema, tablePrefix = '' }: PostgresTableNames,
  isPrepared = true,
): PostgresNames {
  const table = (name: string): string =>
    `${schema === undefined ? '' : `"${schema}".`}"${tablePrefix}${name}"`
  const statements = fit(`${schema ?? ''}.${tablePrefix}.settings`, 63 - '.findUsers'.length)
  return {
    schema,
    prefix: tablePrefix,
    values: table('settings_value'),
    history: table('settings_history'),
    meta: table('settings_meta'),
    channel: fit([schema, tablePrefix, 'settings'].filter(Boolean).join('.'), 63),
    userChannel: fit([schema, tablePrefix, 'settings.users'].filter(Boolean).join('.'), 63),
    userLock: (userId) => `${table('settings_value')} of ${userId}`,
    statement: (name) => (isPrepared ? `${statements}.${name}` : ''),
  }
}

/** PostgreSQL refuses channels of more than 63 bytes, and the driver warns of longer names of statements. */
function fit(name: string, length: number): string {
  if (name.length <= length) return name
  return `settings.${createHash('sha256').update(name).digest('base64url').slice(0, 32)}`
}
