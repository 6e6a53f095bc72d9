/** Names of tables and schemas: they become part of SQL, so only plain ones are let through. */
import { FMOD_SETTINGS_INVALID_STORE_OPTION } from '../misuse-errors.ts'

/**
 * Returns the name. At most 40 characters: PostgreSQL cuts identifiers at 63 bytes, and ours are appended.
 * @throws {FMOD_SETTINGS_INVALID_STORE_OPTION}
 */
export function checkIdentifier(store: string, option: string, name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]{0,39}$/.test(name)) return name
  const reason = 'use 1 to 40 letters, digits and underscores, no digit first'
  throw new FMOD_SETTINGS_INVALID_STORE_OPTION(option, store, reason)
}
