/** What a caller wants written, and how it is told: from the names that callers use to rows, and to those that are stale. */
import { ArgumentException, ConflictException, NotFoundException } from '@fastify-modular/core'
import { type JsonValue, SettingScope, type SharedScope } from '../setting-definition.ts'
import type { SettingState, SharedValues } from '../memory/shared-values.ts'
import type { RowId } from '../store/store.ts'

/** @throws {NotFoundException} no module defines the key */
export function requireSetting(sharedValues: SharedValues, key: string): SettingState {
  const state = sharedValues.find(key)
  if (!state) throw new NotFoundException('Setting', key)
  return state
}

/**
 * The user of a row: empty for System and Application, whatever was passed.
 * @throws {ArgumentException} User scope without a user, an identifier that is too long, an unknown scope
 */
export function rowUser(scope: SettingScope, userId: string | null | undefined): string {
  if (scope === SettingScope.System || scope === SettingScope.Application) return ''
  if (scope !== SettingScope.User)
    throw new ArgumentException('The scope must be 0 (System), 1 (Application) or 2 (User).', 'scope')
  return requireUser(userId)
}

/** @throws {ArgumentException} no user, or an identifier of more than 255 characters */
export function requireUser(userId: string | null | undefined): string {
  if (typeof userId === 'string' && userId !== '' && userId.length <= 255) return userId
  throw new ArgumentException('User scope needs a user id of 1 to 255 characters.', 'userId')
}

/** The row of an entry. */
export function idOf({ state, scope, userId }: WriteEntry): RowId {
  return { scope, userId, key: state.setting.definition.key }
}

/**
 * The scope in which a setting has its shared value: a User setting has the application's default of it there
 * (decisions 16 and 20).
 */
export function sharedScope({ setting }: SettingState): SharedScope {
  return setting.definition.scope === SettingScope.System ? SettingScope.System : SettingScope.Application
}

/** @throws {ArgumentException} the setting has its shared value in another scope (decision 20) */
export function requireFit(state: SettingState, scope: SettingScope): SettingState {
  const fits = sharedScope(state)
  if (scope === fits) return state
  const name = fits === SettingScope.System ? 'System (0)' : 'Application (1)'
  throw new ArgumentException(
    `The setting "${state.setting.definition.key}" has its value in the scope ${name}.`,
    'scope',
  )
}

/** One entry of a bulk write (S 2.5). */
export interface BulkSettingUpdate {
  readonly key: string
  readonly scope: SettingScope
  /** `null` clears the stored value. */
  readonly value: JsonValue
  /** The row's version that the caller saw; a different one fails with `ConflictException`. 0 means unset. */
  readonly version?: number
}

/** The entries of a bulk write, and the errors of unknown settings: one report covers everything (decision 22). */
export interface BulkEntries {
  readonly entries: readonly WriteEntry[]
  readonly errors: ReadonlyMap<string, readonly string[]>
}

/** @throws {ArgumentException} a User-scoped entry (S 4.1.2), or one row twice */
export function toBulkEntries(
  sharedValues: SharedValues,
  updates: readonly BulkSettingUpdate[],
): BulkEntries {
  const rows = new Set<string>()
  const errors = new Map<string, readonly string[]>()
  const entries = updates.flatMap(({ key, scope, value, version }): WriteEntry[] => {
    if (scope === SettingScope.User)
      throw new ArgumentException('A bulk write takes System and Application entries only.', 'scope')
    const row = `${scope} ${key}`
    if (rows.has(row)) throw new ArgumentException(`The setting "${key}" is in the list twice.`, 'key')
    rows.add(row)
    const userId = rowUser(scope, undefined)
    const state = sharedValues.find(key)
    if (!state) errors.set(key, ['Unknown setting.'])
    const expects = version === undefined ? undefined : (revision: number) => revision === version
    return state ? [{ state, scope, userId, change: { kind: 'set', value }, expects }] : []
  })
  return { entries, errors }
}

/** What one entry of a write wants; distinct rows within one write. */
export interface WriteEntry {
  readonly state: SettingState
  readonly scope: SettingScope
  /** Empty for System and Application. */
  readonly userId: string
  /** `clear` removes the stored value whatever the definition requires; setting null removes it where null is allowed. */
  readonly change: { readonly kind: 'set'; readonly value: JsonValue } | { readonly kind: 'clear' }
  /** Whether the row may be written at this revision (0: unset). */
  readonly expects?: ((revision: number) => boolean) | undefined
}

/** The actor, the origin and the reason of a write: recorded in history and events. */
export interface WriteOptions {
  readonly actor?: string | null
  readonly origin?: string
  readonly requestId?: string | null
  readonly note?: string | null
}

/** A row that has changed since its writer read it. */
export interface StaleRow {
  readonly key: string
  readonly scope: SettingScope
  /** The row's current version, 0 when unset. */
  readonly version: number
}

/** 409 with the rows that changed since they were read (decision 24). */
export function toConflict(conflicts: readonly StaleRow[]): Error {
  return new ConflictException('Settings have changed since you read them. Read them again, then decide.', {
    conflicts,
  })
}
