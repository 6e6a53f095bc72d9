/** Lists of values in their order: group, order, key (decision 16). */
import { type SettingScope } from '../../setting-definition.ts'
import type { SettingsFilter, SettingValueDto } from '../contract.ts'
import { sharedScope } from '../write/entries.ts'
import { toSharedDto } from './dto.ts'
import { createSelect, type DefinitionFilter, type Translations } from './select.ts'
import type { Cell } from './snapshot.ts'

/** The settings that a filter selects. */
export function selectCells(
  cells: readonly Cell[],
  filter: DefinitionFilter,
  translations?: Translations,
): readonly Cell[] {
  const isSelected = createSelect(filter, translations)
  return isSelected ? cells.filter(({ setting }) => isSelected(setting.definition)) : cells
}

/** System and Application values, and the application's default of User settings, stored or not. */
export function listShared(
  cells: readonly Cell[],
  filter: SharedFilter,
  translations?: Translations,
): SettingValueDto[] {
  return selectCells(cells, filter, translations).flatMap((cell) => {
    const scope = sharedScope(cell)
    return filter.scope === undefined || filter.scope === scope ? toSharedDto(cell, scope) : []
  })
}

type SharedFilter = Omit<SettingsFilter, 'userId' | 'scope'> & { readonly scope?: SettingScope | undefined }
