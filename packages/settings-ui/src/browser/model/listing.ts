/** Which settings a page lists and in which order: groups, filters, and settings that depend on another one. */
import { SettingScope } from '@fastify-modular/settings/client'
import type { PageConfig } from '../../document.ts'
import type { Messages } from '../../texts/messages.ts'
import type { EditorState } from './editor-state.ts'
import { toInput } from './input.ts'
import { type Definition, isSameJson, isStale, type SettingValue } from './setting.ts'

export interface Group {
  readonly name: string
  /** As its modules name it, in all languages; null without one. */
  readonly group: string | null
  /**
   * What modules call it, as a part of an address: the only one such on its page, and the same in all languages. Where the
   * names of two groups make the same slug, they are numbered in the order of the page.
   */
  readonly slug: string
  readonly definitions: readonly Definition[]
}

interface Texts extends Pick<PageConfig, 'locale'> {
  readonly groups?: PageConfig['groups'] | undefined
  readonly messages: Pick<Messages, 'general'>
}

/** What pages show for a group, in their language. */
export function groupName(group: string | null, groups: PageConfig['groups'] = {}): string | null {
  return (group !== null && groups[group]?.displayName) || group
}

/** Groups in the order of their first setting, settings by `order`, then by name; settings without a group come first, as `general`. */
export function groupDefinitions(
  definitions: readonly Definition[],
  { messages, locale, groups = {} }: Texts,
): readonly Group[] {
  const byGroup = new Map<string | null, Definition[]>([[null, []]])
  for (const definition of definitions) {
    const members = byGroup.get(definition.group)
    if (members) members.push(definition)
    else byGroup.set(definition.group, [definition])
  }
  const collator = new Intl.Collator(locale)
  const slugs = new Set<string>()
  return [...byGroup]
    .filter(([, members]) => members.length > 0)
    .map(([group, members]) => ({
      name: groupName(group, groups) ?? messages.general,
      group,
      slug: uniqueSlug(group ?? 'general', slugs),
      definitions: members.toSorted(
        (a, b) => a.order - b.order || collator.compare(a.displayName, b.displayName),
      ),
    }))
}

function uniqueSlug(name: string, taken: Set<string>): string {
  const base = name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '-')
  let slug = base
  for (let count = 2; taken.has(slug); count++) slug = `${base}-${count}`
  taken.add(slug)
  return slug
}

/**
 * Whether a setting is left out, because its `showWhen` names another one that has a different value. What is unsaved or broken never is,
 * nor is what depends on a setting that this page does not know.
 */
export function isLeftOut({ key, showWhen }: Definition, state: EditorState): boolean {
  const { byKey, values, drafts } = state
  const value = values.get(key)
  if (!showWhen || !value || drafts.has(key) || isStale(value)) return false
  const draft = drafts.get(showWhen.key)
  const other = draft && byKey.get(showWhen.key)
  if (other) return draft.input !== toInput(other, showWhen.equals)
  const stored = values.get(showWhen.key)
  return stored !== undefined && !isSameJson(stored.value, showWhen.equals)
}

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
