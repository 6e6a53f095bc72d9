/** Which settings a page lists and in which order: groups, the search, and settings that depend on another one. */
import { SettingType } from '@fastify-modular/settings/client'
import type { EditorState } from './editor-state.ts'
import { toInput } from './input.ts'
import { type Definition, isStale, type SettingValue } from './setting.ts'

export interface Group {
  readonly name: string
  /** The name as a part of an address, the only one such on its page. */
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

export interface Query {
  readonly text: string
  readonly onlyModified: boolean
}

type Test = (definition: Definition, value: SettingValue) => boolean

const tokens = new Map<string, Test>([
  ['@modified', (_definition, { isOverridden }) => isOverridden],
  ['@locked', (_definition, { locked }) => locked],
  ['@sensitive', ({ sensitive }) => sensitive],
])

const typeNames = new Map(Object.entries(SettingType).map(([name, type]) => [name.toLowerCase(), type]))

/** Whether a setting matches all words of a query and all its tokens, such as `@modified`, `@type:json` and `tag:mail`. */
export function createMatcher({ text, onlyModified }: Query): Test {
  const words = `${onlyModified ? '@modified' : ''} ${text}`.split(/\s+/).filter((word) => word !== '')
  const tests = words.map(testOf)
  return (definition, value) => tests.every((test) => test(definition, value))
}

function testOf(word: string): Test {
  const known = tokens.get(word.toLowerCase())
  if (known) return known
  if (/^@type:/i.test(word)) {
    const type = typeNames.get(word.slice(6).toLowerCase())
    return (definition) => definition.type === type
  }
  if (/^@?tag:/i.test(word)) {
    const tag = fold(word.slice(word.indexOf(':') + 1))
    return ({ tags }) => tags.some((each) => fold(each) === tag)
  }
  const wanted = fold(word)
  return (definition) => haystackOf(definition).includes(wanted)
}

const haystacks = new WeakMap<Definition, string>()

function haystackOf(definition: Definition): string {
  let found = haystacks.get(definition)
  if (found === undefined) {
    const { key, displayName, description, groupName, allowedValues, options, tags } = definition
    const labels = (options ?? []).map(({ label }) => label)
    found = fold(
      [key, displayName, description, groupName, ...(allowedValues ?? []), ...labels, ...tags].join('\n'),
    )
    haystacks.set(definition, found)
  }
  return found
}

/** Without case and diacritics: "preis" finds "Préis". */
function fold(text: string): string {
  return text
    .normalize('NFD')
    .replaceAll(/\p{Diacritic}/gu, '')
    .toLowerCase()
}

/**
 * Whether a setting is left out, because its `showWhen` names another one that has a different value. What is unsaved or broken never is,
 * nor is what depends on a setting that this page does not know.
 */
export function isLeftOut({ key, showWhen }: Definition, state: EditorState): boolean {
  const { definitions, values, drafts } = state
  const value = values.get(key)
  if (!showWhen || !value || drafts.has(key) || isStale(value)) return false
  const draft = drafts.get(showWhen.key)
  const other = draft && definitions.find((each) => each.key === showWhen.key)
  if (other) return draft.input !== toInput(other, showWhen.equals)
  const stored = values.get(showWhen.key)
  return stored !== undefined && JSON.stringify(stored.value) !== JSON.stringify(showWhen.equals)
}
