/** What a list of settings may be narrowed to. */
import { SettingScope } from '@fastify-modular/settings/client'
import type { Messages } from '../../texts/messages.ts'
import type { Definition, SettingValue } from './setting.ts'

interface FilterOf {
  readonly text: 'application' | 'system' | Extract<keyof Messages, `filter${string}`>
  readonly test: (definition: Definition, value: SettingValue | undefined, isWrong: boolean) => boolean
}

const filters = {
  modified: { text: 'filterModified', test: (_definition, value) => value?.isOverridden === true },
  attention: { text: 'filterAttention', test: (_definition, _value, isWrong) => isWrong },
  locked: { text: 'filterLocked', test: (_definition, value) => value?.locked === true },
  sensitive: { text: 'filterSensitive', test: ({ sensitive }) => sensitive },
  application: { text: 'application', test: ({ scope }) => scope !== SettingScope.System },
  system: { text: 'system', test: ({ scope }) => scope === SettingScope.System },
} as const satisfies Readonly<Record<string, FilterOf>>

export type Filter = keyof typeof filters

/** Of each kind, several show what has any of them. */
export const stateFilters: readonly Filter[] = ['modified', 'attention', 'locked', 'sensitive']
export const scopeFilters: readonly Filter[] = ['application', 'system']

/** Those that an address names. */
export function toFilters(names: readonly string[]): readonly Filter[] {
  return [...stateFilters, ...scopeFilters].filter((filter) => names.includes(filter))
}

export function filterName(filter: Filter, messages: Messages): string {
  return messages[filters[filter].text]
}

/** Whether the filters that are on leave a setting in the list. */
export function passes(only: readonly Filter[], ...setting: Parameters<FilterOf['test']>): boolean {
  return [stateFilters, scopeFilters].every((kind) => {
    const chosen = kind.filter((filter) => only.includes(filter))
    return chosen.length === 0 || chosen.some((filter) => filters[filter].test(...setting))
  })
}
