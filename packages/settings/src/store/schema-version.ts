/** When the tables of a database are brought up to date. */
import { FMOD_SETTINGS_SCHEMA_OUTDATED, FMOD_SETTINGS_SCHEMA_TOO_NEW } from '../misuse-errors.ts'

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
