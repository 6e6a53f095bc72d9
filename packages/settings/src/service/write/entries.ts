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
