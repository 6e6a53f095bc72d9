/** From what callers name to rows: which setting, which scope, whose. */
import { ArgumentException, NotFoundException } from '@fastify-modular/core'
import { SettingScope } from '../../setting-definition.ts'
import type { Cell, Snapshot } from '../read/snapshot.ts'

/** @throws {NotFoundException} no module defines the key */
export function requireSetting(snapshot: Snapshot, key: string): Cell {
  const cell = snapshot.find(key)
  if (!cell) throw new NotFoundException('Setting', key)
  return cell
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

/** Scopes without users. */
export type SharedScope = typeof SettingScope.System | typeof SettingScope.Application

/**
 * The scope in which a setting has its shared value: a User setting has the application's default of it there
 * (decisions 16 and 20).
 */
export function sharedScope({ setting }: Cell): SharedScope {
  return setting.definition.scope === SettingScope.System ? SettingScope.System : SettingScope.Application
}

/** @throws {ArgumentException} the setting has its shared value in another scope (decision 20) */
export function requireFit(cell: Cell, scope: SettingScope): Cell {
  const fits = sharedScope(cell)
  if (scope === fits) return cell
  const name = fits === SettingScope.System ? 'System (0)' : 'Application (1)'
  throw new ArgumentException(
    `The setting "${cell.setting.definition.key}" has its value in the scope ${name}.`,
    'scope',
  )
}
