/** Values as responses show them: the one place where sensitive values are masked (S 2.4, decisions 13 and 15). */
import type { RegisteredSetting } from '../../values/registered-setting.ts'
import { SettingScope } from '../../setting-definition.ts'
import type { StoredRow } from '../../store/store.ts'
import type { SettingValueDto } from '../contract.ts'
import type { RowCodec } from '../row-codec.ts'
import { resolve } from './resolve.ts'
import type { Cell } from './snapshot.ts'

/** A System or Application value. */
export function toSharedDto(
  cell: Cell,
  scope: typeof SettingScope.System | typeof SettingScope.Application,
): SettingValueDto {
  const layer = scope === SettingScope.System ? cell.system : cell.application
  const own = scope === SettingScope.System ? { system: layer } : { application: layer }
  const { source, value } = resolve({ locked: cell.locked, ...own, default: cell.setting.defaultValue })
  return toDto(cell, scope, layer?.row, source, value, null)
}

/** A user's value, with what is inherited where the user has none of their own (S 3.3). */
export function toUserDto(
  cell: Cell,
  userId: string,
  row: StoredRow | undefined,
  codec: RowCodec,
): SettingValueDto {
  const layers = {
    locked: cell.locked,
    user: row && codec.layerOf(cell.setting, row),
    application: cell.application,
    default: cell.setting.defaultValue,
  }
  const { source, value } = resolve(layers)
  return toDto(cell, SettingScope.User, row, source, value, userId)
}

function toDto(
  { setting, locked }: { readonly setting: RegisteredSetting; readonly locked: Cell['locked'] },
  scope: SettingScope,
  row: StoredRow | undefined,
  source: SettingValueDto['source'],
  value: SettingValueDto['value'],
  userId: string | null,
): SettingValueDto {
  return {
    key: setting.definition.key,
    scope,
    value: setting.definition.sensitive ? null : value,
    isOverridden: row !== undefined,
    source,
    locked: locked !== undefined,
    version: row?.revision ?? 0,
    userId,
    updatedAt: row ? new Date(row.updatedAt).toISOString() : null,
    updatedBy: row?.updatedBy ?? null,
  }
}
