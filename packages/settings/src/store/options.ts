/** What both databases refuse in their arguments before anything is opened. */
import { currentCommand, option, Type } from '@fastify-modular/core/internal'
import { connectionOptions } from '@fastify-modular/core/internal/postgres'
import { errorCodes } from '../misuse-errors.ts'

/** At most 40 characters: PostgreSQL cuts identifiers at 63 bytes, and the store appends to them. */
const identifier = '[A-Za-z_][A-Za-z0-9_]{0,39}'
const description = 'at most 40 letters, digits and underscores, not a digit first'

const migrate = option.oneOf('auto', 'check', false)
const tablePrefix = Type.String({ pattern: `^(${identifier})?$`, description })

export const sqliteOptions = Type.Object({ migrate, tablePrefix, pollInterval: milliseconds(1, 60_000) })

export const postgresOptions = Type.Object({
  migrate,
  schema: Type.String({ pattern: `^${identifier}$`, description }),
  tablePrefix,
  pollInterval: milliseconds(10, 600_000),
  announceWindow: milliseconds(0, 10_000),
  prepared: option.boolean(),
  listen: Type.Object({ connectionString: Type.Unknown() }, { description: '{ connectionString }' }),
  ...connectionOptions,
})

function milliseconds(minimum: number, maximum: number) {
  return Type.Number({ minimum, maximum, description: `${minimum} to ${maximum} milliseconds` })
}

/**
 * `auto` brings the tables up to date under a lock, `check` refuses to start when they are not, `false` looks at
 * nothing: the tables are made by your own migrations.
 */
export type MigrateMode = 'auto' | 'check' | false

/**
 * The mode of this process. Of the commands of the command line, `migrate` alone brings tables up to date, also where the
 * application itself only checks them.
 */
export function effectiveMode(mode: MigrateMode): MigrateMode | 'nothing' {
  const command = currentCommand()
  if (!command) return mode
  if (command.migrates) return mode === 'check' ? 'auto' : mode
  return mode === false ? 'nothing' : 'check'
}

interface SchemaState {
  readonly store: 'sqlite' | 'postgres'
  readonly mode: 'auto' | 'check'
  /** The version of the tables. */
  readonly found: number
  /** The version of this package. */
  readonly known: number
}

/**
 * Whether migrations must run. Versions count the migrations of this package; they only go forward.
 * @throws {FMOD_SETTINGS_SCHEMA_TOO_NEW} a newer package has migrated this database
 * @throws {FMOD_SETTINGS_SCHEMA_OUTDATED} migrations are missing and the mode forbids to run them
 */
export function isOutdated({ store, mode, found, known }: SchemaState): boolean {
  if (found > known) throw new errorCodes.FMOD_SETTINGS_SCHEMA_TOO_NEW(store, found, known)
  if (found < known && mode === 'check')
    throw new errorCodes.FMOD_SETTINGS_SCHEMA_OUTDATED(store, found, known)
  return found < known
}

/** Where the tables of PostgreSQL are. */
export interface PostgresTableNames {
  /** Made when missing. @default the search path of the connection, usually `public` */
  readonly schema?: string
  /** Put before the names of the tables. @default '' */
  readonly tablePrefix?: string
}
