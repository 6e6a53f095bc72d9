/** Mistakes of the developer, found while the application boots or by a call that cannot be right. One row each in docs/reference/error-codes.md. */
import { createErrorCodes } from '@fastify-modular/core/internal'

/** All problems of one error, each in a line of its own. */
export function toLines(problems: readonly string[]): string {
  return problems.map((problem) => `\n  - ${problem}`).join('')
}

export const errorCodes = createErrorCodes({
  // Registration
  FMOD_SETTINGS_CALLER_DECLARED_LATER:
    'The settings plugin is registered before the gate (or what else declares request.caller), so its routes cannot find the caller. Register the gate first, or set the option findCaller.',
  FMOD_SETTINGS_FOREIGN_EVENTS:
    'The event transport does not use the connection of the settings store "%s": an event could be kept while its change is undone. Give both the same: %s.',
  // Definitions
  FMOD_SETTINGS_INVALID_DEFINITIONS: 'These settings cannot be used:%s',
  FMOD_SETTINGS_INVALID_RULE_RESULT:
    'The value of %s cannot be checked: %s. Rules and validators return what is wrong, as text and at once.',
  // Reading
  FMOD_SETTINGS_UNKNOWN_KEY: 'No module defines the setting "%s".%s',
  FMOD_SETTINGS_UNREADABLE: 'The stored value of the setting "%s" cannot be read: %s.',
  // Resources
  FMOD_SETTINGS_INVALID_RESOURCE: 'The resource "%s" cannot follow settings: %s.',
  FMOD_SETTINGS_RESOURCE_MISSING: 'The resource "%s" is required, and could not be made of its settings: %s',
  // Secrets
  FMOD_SETTINGS_MISSING_ENCRYPTION_KEYS:
    'Stored values are encrypted with keys that are not configured: %s. Add these keys to the option encryption.keys (or SM_SETTINGS_KEYS); older keys go after the active one.',
  FMOD_SETTINGS_ENCRYPTION_REQUIRED:
    'Encryption is required, but no key is configured for the sensitive settings %s. Set the option encryption.keys or SM_SETTINGS_KEYS.',
  FMOD_SETTINGS_NOT_ENCRYPTED:
    'Encryption is required, but these sensitive settings are stored in plain text, as values or in the history: %s. Boot once with encryption.mode "warn" and call app.settings.reencrypt().',
  // Overrides
  FMOD_SETTINGS_INVALID_OVERRIDES:
    'These values of the option overrides, or of SM_SETTINGS_OVERRIDES, cannot be used:%s',
  FMOD_SETTINGS_INVALID_ENVIRONMENT:
    'These variables, or the files that they name, do not fit their settings:%s',
  // Tests
  FMOD_SETTINGS_CANNOT_OVERRIDE: 'These values cannot be used in a test: %s.',
  // Stores
  FMOD_SETTINGS_DRIVER_MISSING:
    'The %s store needs the package "%s", which is not installed. Run: npm install %s',
  FMOD_SETTINGS_DRIVER_UNSUPPORTED: '%s does not work on Node %s: %s',
  FMOD_SETTINGS_MIGRATION_FAILED:
    'The tables of settings could not be made in PostgreSQL, and nothing has changed: %s. Remove the cause and start again, or run the statements of printSql().',
  FMOD_SETTINGS_SCHEMA_OUTDATED:
    'The tables of the %s store have schema version %d, this package needs %d. Start once with migrate: "auto", or make the tables with the statements of printSql().',
  FMOD_SETTINGS_SCHEMA_TOO_NEW:
    'The tables of the %s store have schema version %d, this package knows only %d. Upgrade @fastify-modular/settings.',
  FMOD_SETTINGS_STORE_NOT_OPEN:
    'The %s store is not open. Use it after open() and before close(), and give each application a store of its own.',
  FMOD_SETTINGS_TRANSACTION_OPEN:
    'The SQLite connection that was handed to the settings store is inside a transaction: a write could be undone after it was acknowledged. Finish that transaction first, or give the store its own connection with { file }.',
  FMOD_SETTINGS_TRANSACTION_ENDED:
    'A statement was sent in the transaction of a write that has ended. Send it, and await it, before enqueue() returns.',
})
