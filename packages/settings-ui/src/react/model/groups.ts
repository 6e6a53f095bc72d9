/** The order of settings on a page: groups as modules declared them, settings by `order`, then by name. */
import type { Definition } from './setting.ts'

export interface Group {
  readonly name: string
  /** The name as a part of an address, the only one such on its page. */
  readonly slug: string
  readonly definitions: readonly Definition[]
}

/** Groups in the order of their first setting; settings without one come first, as `general`. */
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
      slug: uniqueSlug(name, slugs),
      definitions: members.toSorted(
        (a, b) => a.order - b.order || collator.compare(a.displayName, b.displayName),
      ),
    }))
}

/** The id of a group's element, where the links of the navigation lead. */
export function groupId(pageId: string, slug: string): string {
  return `${pageId}-group-${slug}`
}

function uniqueSlug(name: string, taken: Set<string>): string {
  const base = name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '-')
  let slug = base
  for (let count = 2; taken.has(slug); count++) slug = `${base}-${count}`
  taken.add(slug)
  return slug
}
