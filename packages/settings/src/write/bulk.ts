/** The entries of a bulk write, or of a file. */
import { ArgumentException } from '@fastify-modular/core'
import { rowOwner } from '../memory/owned-values.ts'
import type { SharedValues } from '../memory/shared-values.ts'
import { isOwned, type JsonValue, SettingScope } from '../setting-definition.ts'
import { rowIdText } from '../store/plan-write.ts'
import { isVersion, type WriteEntry } from './write.ts'

/** One entry of a bulk write. */
export interface BulkSettingUpdate {
  readonly key: string
  readonly scope: SettingScope
  /** `null` clears the stored value. */
  readonly value: JsonValue
  /** The row's version that the caller saw; a different one fails with `ConflictException`. 0 means unset. */
  readonly version?: number
}

/**
 * Returns the entries of a bulk write or of a file, and the keys that no module defines.
 * @throws {ArgumentException} a User-scoped entry, or one row twice
 */
export function toBulkEntries(
  sharedValues: SharedValues,
  updates: readonly BulkSettingUpdate[],
  tenant?: string,
) {
  const rows = new Set<string>()
  const unknown: string[] = []
  const entries = updates.flatMap(({ key, scope, value, version }): WriteEntry[] => {
    if (tenant === undefined && isOwned(scope))
      throw new ArgumentException('A bulk write takes System and Application entries only.', 'scope')
    if (tenant !== undefined && scope !== SettingScope.Tenant)
      throw new ArgumentException('A bulk write of a tenant takes Tenant entries only.', 'scope')
    const id = { key, scope, owner: rowOwner(scope, tenant) }
    if (rows.has(rowIdText(id)))
      throw new ArgumentException(`The setting "${key}" is in the list twice.`, 'key')
    rows.add(rowIdText(id))
    const state = sharedValues.find(key)
    if (!state) unknown.push(key)
    return state ? [{ ...id, state, value, expects: isVersion(version) }] : []
  })
  return { entries, unknown }
}
