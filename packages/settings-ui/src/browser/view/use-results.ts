/** Which settings a page lists: those of one group, or those that a search and its filters find in all of them. */
import { createContext } from 'preact'
import { useContext, useEffect, useMemo, useState } from 'preact/hooks'
import { plural } from '../../texts/messages.ts'
import { type EditorState, needsAttention } from '../model/editor-state.ts'
import { type Group, groupDefinitions, isLeftOut, passes } from '../model/listing.ts'
import type { createSearch, Found, Hit } from '../model/search.ts'
import type { Definition } from '../model/setting.ts'
import { useEditor, usePage } from '../page-context.ts'
import type { ChangeUrl, UrlState } from './use-url-state.ts'

/** Some settings of one group, under its name. */
export interface Section {
  readonly group: Group
  readonly rows: readonly Hit[]
}

export interface Results {
  /** Of the whole page, whatever is shown of them. */
  readonly definitions: readonly Definition[]
  readonly groups: readonly Group[]
  /** The group that is open; undefined while something is searched for, and where all groups are on one page. */
  readonly current: Group | undefined
  readonly sections: readonly Section[]
  readonly isSearch: boolean
  /** What searches is not there yet. */
  readonly isPending: boolean
  /** Settings that were found, also those that are not listed yet. */
  readonly count: number
  /** How many were found in each group, by its slug. */
  readonly byGroup: ReadonlyMap<string, number>
  /** Matches that only the filters keep out. */
  readonly filtered: number
  readonly found: Found
  /** Keys that are left out whatever is searched for. */
  readonly leftOut: ReadonlySet<string>
  /** What a search has found, in words; a new object for each search. */
  readonly spoken: { readonly text: string }
}

/** What the parts of a page show besides rows, and how they change it. */
export interface View {
  readonly url: UrlState
  readonly changeUrl: ChangeUrl
  readonly results: Results
  readonly areKeysShown: boolean
  readonly showKeys: (areShown: boolean) => void
  /** All that a search has found is listed. */
  readonly isWhole: boolean
  readonly showWhole: (isWhole: boolean) => void
}

export const ViewContext = createContext<View | null>(null)

/** @throws {Error} outside of a settings page */
export function useView(): View {
  const view = useContext(ViewContext)
  if (!view) throw new Error('No settings page around.')
  return view
}

/** Rows of a search that are listed at once: more are not read. */
export const atOnce = 50

/** Those that fill a window: drawn within a keystroke, the others when no key has followed for these milliseconds. */
const atFirst = 12
const pause = 150

/** What a page shows, without search and navigation, in place of everything. */
export interface PagePart {
  /** One group, by the name that its definitions give it. */
  readonly group?: string | undefined
  /** These settings in this order, without a heading: that is the host's. */
  readonly keys?: readonly string[] | undefined
}

interface ResultsOptions extends PagePart {
  /** All matches of a search are listed. */
  readonly isWhole: boolean
  /** What searches; undefined until it is there, null if it could not be loaded. */
  readonly later: { readonly createSearch: typeof createSearch } | null | undefined
}

const nothingFound: Found = { hits: [], words: [], corrected: undefined, nearest: [] }

export function useResults(url: UrlState, { group, keys, isWhole, later }: ResultsOptions): Results {
  const { editor, messages, locale, groups: faces } = usePage()
  const all = useEditor((state) => state.definitions)
  const values = useEditor((state) => state.values)
  const { text, isExact, only } = url

  const definitions = useMemo(
    () =>
      keys?.flatMap((key) => all.find((each) => each.key === key) ?? []) ??
      all.filter((each) => group === undefined || each.group === group),
    [all, group, keys],
  )
  const groups = useMemo(
    () =>
      keys
        ? [{ name: '', group: null, slug: '', definitions }]
        : groupDefinitions(definitions, { messages, locale, groups: faces }),
    [definitions, keys, messages, locale, faces],
  )
  const search = useMemo(
    () => later?.createSearch(definitions, messages, faces),
    [later, definitions, messages, faces],
  )
  const leftOut = useKeys((state) => definitions.filter((each) => isLeftOut(each, state)))
  const attention = useKeys((state) => (only.includes('attention') ? needsAttention(state) : []))

  const isSearch = text.trim() !== '' || only.length > 0
  const matches = useMemo(() => {
    const found = search?.({ text, isExact, values }) ?? nothingFound
    const isListed = ({ definition: { key } }: Hit): boolean => values.has(key) && !leftOut.has(key)
    const isKept = ({ definition }: Hit): boolean =>
      passes(only, definition, values.get(definition.key), attention.has(definition.key))
    const ordered = text.trim() === '' ? groups.flatMap((each) => each.definitions.map(toHit)) : found.hits
    const listed = ordered.filter(isListed)
    const kept = listed.filter(isKept)
    const byGroup = new Map(sectionsOf(groups, kept).map(({ group: { slug }, rows }) => [slug, rows.length]))
    return { found, kept, byGroup, count: kept.length, filtered: listed.length - kept.length }
  }, [search, groups, values, leftOut, attention, text, isExact, only])

  const isOnePage = !editor.isShared || group !== undefined || keys !== undefined
  const current =
    isSearch || isOnePage || url.view !== null
      ? undefined
      : (groups.find(({ slug }) => slug === url.group) ?? groups[0])
  const isPaused = usePaused(text)
  const sections = useMemo(() => {
    if (isSearch && isWhole) return sectionsOf(groups, matches.kept)
    if (isSearch) return sectionsOf(groups, matches.kept.slice(0, isPaused ? atOnce : atFirst))
    const shown = current ? [current] : groups
    return shown.map((each) => ({
      group: each,
      rows: each.definitions.filter(({ key }) => !leftOut.has(key) && values.has(key)).map(toHit),
    }))
  }, [isSearch, isWhole, isPaused, groups, current, matches, leftOut, values.size])

  const { count } = matches
  const isPending = text.trim() !== '' && later === undefined
  const spoken = useMemo(
    () => ({ text: isSearch ? plural(messages.found, count, locale) : '' }),
    [messages, locale, isSearch, count, text],
  )
  return { ...matches, definitions, groups, current, sections, isSearch, isPending, leftOut, spoken }
}

/** Whether the text has stayed the same for a moment. */
function usePaused(text: string): boolean {
  const [last, setLast] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setLast(text), pause)
    return () => clearTimeout(timer)
  }, [text])
  return last === text
}

/** Keys of definitions; the same set until another one comes or goes. */
function useKeys(select: (state: EditorState) => readonly Definition[]): ReadonlySet<string> {
  const keys = useEditor((state) =>
    select(state)
      .map(({ key }) => key)
      .join(' '),
  )
  return useMemo(() => new Set(keys.split(' ')), [keys])
}

function toHit(definition: Definition): Hit {
  return { definition }
}

/** Groups in the order of their best match. */
function sectionsOf(groups: readonly Group[], rows: readonly Hit[]): readonly Section[] {
  const groupOf = new Map(groups.flatMap((group) => group.definitions.map(({ key }) => [key, group])))
  const byGroup = new Map<Group, Hit[]>()
  for (const row of rows) {
    const group = groupOf.get(row.definition.key)
    const members = group && byGroup.get(group)
    if (members) members.push(row)
    else if (group) byGroup.set(group, [row])
  }
  return [...byGroup].map(([group, members]) => ({ group, rows: members }))
}
