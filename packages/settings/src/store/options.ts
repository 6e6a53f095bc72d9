/** What both databases refuse in their arguments before anything is opened. */
import { unknownMembers } from '@fastify-modular/core'
import {
  FMOD_SETTINGS_INVALID_STORE_OPTION,
  FMOD_SETTINGS_SCHEMA_OUTDATED,
  FMOD_SETTINGS_SCHEMA_TOO_NEW,
} from '../misuse-errors.ts'

/** The arguments of a store, each with the names that it may have. */
export interface StoreArguments {
  readonly source: readonly [given: object, known: Readonly<Record<string, true>>]
  readonly options: readonly [given: object, known: Readonly<Record<string, true>>]
}

/**
 * A table prefix that is left out without a word would put two tenants into one table.
 * @throws {FMOD_SETTINGS_INVALID_STORE_OPTION} naming a member that there is not, or an unknown mode of migration
 */
export function checkStoreArguments(store: string, { source, options }: StoreArguments): void {
  for (const [name] of [unknownMembers(...source), unknownMembers(...options)]) {
    if (name === undefined) continue
    const [, first] = source
    const [, second] = options
    throw new FMOD_SETTINGS_INVALID_STORE_OPTION(
      name,
      store,
      `the first argument has ${namesOf(first)}, the second ${namesOf(second)}`,
    )
  }
  const { migrate } = options[0] as { readonly migrate?: unknown }
  if (migrate !== undefined && migrate !== 'auto' && migrate !== 'check' && migrate !== false) {
    throw new FMOD_SETTINGS_INVALID_STORE_OPTION('migrate', store, 'it is "auto", "check" or false')
  }
}

function namesOf(known: Readonly<Record<string, true>>): string {
  return Object.keys(known).join(', ')
}

/**
 * Returns the name. At most 40 characters: PostgreSQL cuts identifiers at 63 bytes, and ours are appended.
 * @throws {FMOD_SETTINGS_INVALID_STORE_OPTION}
 */
export function checkIdentifier(store: string, option: string, name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]{0,39}$/.test(name)) return name
  const reason = 'use 1 to 40 letters, digits and underscores, no digit first'
  throw new FMOD_SETTINGS_INVALID_STORE_OPTION(option, store, reason)
}

/**
 * `auto` brings the tables up to date under a lock, `check` refuses to start when they are not, `false` looks at
 * nothing: the tables are made by your own migrations (decision 29).
 */
export type MigrateMode = 'auto' | 'check' | false

/**
 * Whether migrations must run. Versions count the migrations of this package; they only go forward.
 * @throws {FMOD_SETTINGS_SCHEMA_TOO_NEW} a newer package has migrated this database
 * @throws {FMOD_SETTINGS_SCHEMA_OUTDATED} migrations are missing and the mode forbids to run them
 */
export function isOutdated(store: string, mode: 'auto' | 'check', found: number, known: number): boolean {
  if (found > known) throw new FMOD_SETTINGS_SCHEMA_TOO_NEW(store, found, known)
  if (found < known && mode === 'check') throw new FMOD_SETTINGS_SCHEMA_OUTDATED(store, found, known)
  return found < known
}
