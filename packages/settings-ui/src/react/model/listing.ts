/** Which settings a page lists and in which order: groups, and settings that depend on another one. */
import type { EditorState } from './editor-state.ts'
import { toInput } from './input.ts'
import { type Definition, isStale } from './setting.ts'

export interface Group {
  readonly name: string
  /** As its modules name it, in any language; null without one. */
  readonly group: string | null
  /**
   * What modules call it as a part of an address, the only one such on its page, and the same in all languages unless the names
   * of two groups make the same slug: they are numbered in the order of the page.
   */
  readonly slug: string
  readonly definitions: readonly Definition[]
}

/** Groups in the order of their first setting, settings by `order`, then by name; settings without a group come first, as `general`. */
export function groupDefinitions(
  definitions: readonly Definition[],
  general: string,
  locale: string,
): readonly Group[] {
  const byName = new Map<string, Definition[]>([[general, []]])
  for (const definition of definitions) {
    const name = definition.groupName ?? general
    const members = byName.get(name)
    if (members) members.push(definition)
    else byName.set(name, [definition])
  }
  const collator = new Intl.Collator(locale)
  const slugs = new Set<string>()
  return [...byName]
    .filter(([, members]) => members.length > 0)
    .map(([name, members]) => ({
      name,
      group: members[0]?.group ?? null,
      slug: uniqueSlug(members[0]?.group ?? 'general', slugs),
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
  return stored !== undefined && JSON.stringify(stored.value) !== JSON.stringify(showWhen.equals)
}
