/** The names of everything that the store has in PostgreSQL, ready for SQL. */
import { createHash } from 'node:crypto'
import type { PostgresTableNames } from '../options.ts'
import type { Owner } from '../store.ts'

export interface PostgresNames {
  readonly schema: string | undefined
  readonly prefix: string
  /** Quoted, with the schema. */
  readonly values: string
  readonly history: string
  readonly meta: string
  /** Of the advisory lock and of NOTIFY. A hint of another store costs one look, so that sharing it does no harm. */
  readonly channel: string
  /** Of NOTIFY for values of users and tenants. */
  readonly ownerChannel: string
  /** The advisory lock of an owner, for writes of the owner's rows and for an erasure. */
  readonly ownerLock: (owner: Owner) => string
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
  const statements = fit(`${schema ?? ''}.${tablePrefix}.settings`, 63 - '.findOwned'.length)
  return {
    schema,
    prefix: tablePrefix,
    values: table('settings_value'),
    history: table('settings_history'),
    meta: table('settings_meta'),
    channel: fit([schema, tablePrefix, 'settings'].filter(Boolean).join('.'), 63),
    ownerChannel: fit([schema, tablePrefix, 'settings.owned'].filter(Boolean).join('.'), 63),
    ownerLock: ({ scope, id }) => `${table('settings_value')} of ${scope} ${id}`,
    statement: (name) => (isPrepared ? `${statements}.${name}` : ''),
  }
}

/** PostgreSQL refuses channels of more than 63 bytes, and the driver warns of longer names of statements. */
function fit(name: string, length: number): string {
  if (name.length <= length) return name
  return `settings.${createHash('sha256').update(name).digest('base64url').slice(0, 32)}`
}
