/** Mistakes of the developer, found while the application boots or by a call that cannot be right. One row each in docs/reference/error-codes.md. */
import { createMisuseError } from '@fastify-modular/core/internal'

/** All problems of one error, each in a line of its own. */
export function toLines(problems: readonly string[]): string {
  return problems.map((problem) => `\n  - ${problem}`).join('')
}

// Registration
export const FMOD_SETTINGS_CALLER_DECLARED_LATER = createMisuseError(
  'FMOD_SETTINGS_CALLER_DECLARED_LATER',
  'The settings plugin is registered before the gate (or what else declares request.caller), so its routes cannot find the caller. Register the gate first, or set the option findCaller.',
)
export const FMOD_SETTINGS_FOREIGN_EVENTS = createMisuseError<[string, string]>(
  'FMOD_SETTINGS_FOREIGN_EVENTS',
  'The event transport does not use the connection of the settings store "%s": an event could be kept while its change is undone. Give both the same: %s.',
)

// Definitions
export const FMOD_SETTINGS_INVALID_DEFINITIONS = createMisuseError<[string]>(
  'FMOD_SETTINGS_INVALID_DEFINITIONS',
  'These settings cannot be used:%s',
)
export const FMOD_SETTINGS_INVALID_RULE_RESULT = createMisuseError<[string, string]>(
  'FMOD_SETTINGS_INVALID_RULE_RESULT',
  'The value of %s cannot be checked: %s. Rules and validators return what is wrong, as text and at once.',
)

// Reading
export const FMOD_SETTINGS_UNKNOWN_KEY = createMisuseError<[string, string]>(
  'FMOD_SETTINGS_UNKNOWN_KEY',
  'No module defines the setting "%s".%s',
)
export const FMOD_SETTINGS_UNREADABLE = createMisuseError<[string, string]>(
  'FMOD_SETTINGS_UNREADABLE',
  'The stored value of the setting "%s" cannot be read: %s.',
)

// Resources
export const FMOD_SETTINGS_INVALID_RESOURCE = createMisuseError<[string, string]>(
  'FMOD_SETTINGS_INVALID_RESOURCE',
  'The resource "%s" cannot follow settings: %s.',
)
export const FMOD_SETTINGS_RESOURCE_MISSING = createMisuseError<[string, string]>(
  'FMOD_SETTINGS_RESOURCE_MISSING',
  'The resource "%s" is required, and could not be made of its settings: %s',
)

// Secrets
export const FMOD_SETTINGS_MISSING_ENCRYPTION_KEYS = createMisuseError<[string]>(
  'FMOD_SETTINGS_MISSING_ENCRYPTION_KEYS',
  'Stored values are encrypted with keys that are not configured: %s. Add these keys to the option encryption.keys (or SM_SETTINGS_KEYS); older keys go after the active one.',
)
export const FMOD_SETTINGS_ENCRYPTION_REQUIRED = createMisuseError<[string]>(
  'FMOD_SETTINGS_ENCRYPTION_REQUIRED',
  'Encryption is required, but no key is configured for the sensitive settings %s. Set the option encryption.keys or SM_SETTINGS_KEYS.',
)
export const FMOD_SETTINGS_NOT_ENCRYPTED = createMisuseError<[string]>(
  'FMOD_SETTINGS_NOT_ENCRYPTED',
  'Encryption is required, but these sensitive settings are stored in plain text, as values or in the history: %s. Boot once with encryption.mode "warn" and call app.settings.reencrypt().',
)

// Overrides
export const FMOD_SETTINGS_INVALID_OVERRIDES = createMisuseError<[string]>(
  'FMOD_SETTINGS_INVALID_OVERRIDES',
  'These values of the option overrides, or of SM_SETTINGS_OVERRIDES, cannot be used:%s',
)

export const FMOD_SETTINGS_INVALID_ENVIRONMENT = createMisuseError<[string]>(
  'FMOD_SETTINGS_INVALID_ENVIRONMENT',
  'These variables, or the files that they name, do not fit their settings:%s',
)

// Tests
export const FMOD_SETTINGS_CANNOT_OVERRIDE = createMisuseError<[string]>(
  'FMOD_SETTINGS_CANNOT_OVERRIDE',
  'These values cannot be used in a test: %s.',
)

// Stores
export const FMOD_SETTINGS_DRIVER_MISSING = createMisuseError<[string, string, string]>(
  'FMOD_SETTINGS_DRIVER_MISSING',
  'The %s store needs the package "%s", which is not installed. Run: npm install %s',
)
export const FMOD_SETTINGS_DRIVER_UNSUPPORTED = createMisuseError<[string, string, string]>(
  'FMOD_SETTINGS_DRIVER_UNSUPPORTED',
  '%s does not work on Node %s: %s',
)
export const FMOD_SETTINGS_MIGRATION_FAILED = createMisuseError<[string]>(
  'FMOD_SETTINGS_MIGRATION_FAILED',
  'The tables of settings could not be made in PostgreSQL, and nothing has changed: %s. Remove the cause and start again, or run the statements of printSql().',
)
export const FMOD_SETTINGS_SCHEMA_OUTDATED = createMisuseError<[string, number, number]>(
  'FMOD_SETTINGS_SCHEMA_OUTDATED',
  'The tables of the %s store have schema version %d, this package needs %d. Start once with migrate: "auto", or make the tables with the statements of printSql().',
)
export const FMOD_SETTINGS_SCHEMA_TOO_NEW = createMisuseError<[string, number, number]>(
  'FMOD_SETTINGS_SCHEMA_TOO_NEW',
  'The tables of the %s store have schema version %d, this package knows only %d. Upgrade @fastify-modular/settings.',
)
export const FMOD_SETTINGS_STORE_NOT_OPEN = createMisuseError<[string]>(
  'FMOD_SETTINGS_STORE_NOT_OPEN',
  'The %s store is not open. Use it after open() and before close(), and give each application a store of its own.',
)
export const FMOD_SETTINGS_TRANSACTION_OPEN = createMisuseError(
  'FMOD_SETTINGS_TRANSACTION_OPEN',
  'The SQLite connection that was handed to the settings store is inside a transaction: a write could be undone after it was acknowledged. Finish that transaction first, or give the store its own connection with { file }.',
)
export const FMOD_SETTINGS_TRANSACTION_ENDED = createMisuseError(
  'FMOD_SETTINGS_TRANSACTION_ENDED',
  'A statement was sent in the transaction of a write that has ended. Send it, and await it, before enqueue() returns.',
)
