/** Which settings a page shows: those of the tab, in groups, and of these the ones that match the search. */
import { useMemo } from 'react'
import { plural } from '../messages.ts'
import { type Group, groupDefinitions } from '../model/listing.ts'
import { SettingScope } from '@fastify-modular/settings/client'
import { createMatcher } from '../model/listing.ts'
import { isLeftOut } from '../model/listing.ts'
import type { Definition } from '../model/setting.ts'
import { useEditor, usePage } from '../page-context.ts'
import type { UrlState } from './use-url-state.ts'

export type Tab = 'system' | 'application'

/** The tab of a setting: application defaults of User settings stand among the application's own. */
export function tabOf({ scope }: Pick<Definition, 'scope'>): Tab {
  return scope === SettingScope.System ? 'system' : 'application'
}

export interface Results {
  /** Of the whole page, whatever the tab and the search. */
  readonly definitions: readonly Definition[]
  readonly groups: readonly Group[]
  readonly matches: ReadonlySet<string>
  /** Matches in the tab that is not shown. */
  readonly elsewhere: number
  readonly isSearch: boolean
  /** Keys that are left out whatever is searched for. */
  readonly leftOut: ReadonlySet<string>
  /** What a search has found, in words; a new object for each search. */
  readonly found: { readonly text: string }
}

/** @param tab null shows all; @param group only this one */
export function useResults(tab: Tab | null, { text, onlyModified }: UrlState, group?: string): Results {
  const { messages, locale } = usePage()
  const all = useEditor((state) => state.definitions)
  const values = useEditor((state) => state.values)

  const definitions = useMemo(
    () => (group === undefined ? all : all.filter((definition) => definition.group === group)),
    [all, group],
  )
  const groups = useMemo(() => {
    const shown = tab === null ? definitions : definitions.filter((definition) => tabOf(definition) === tab)
    return groupDefinitions(shown, messages.general, locale)
  }, [definitions, tab, messages, locale])

  const conditional = useMemo(() => definitions.filter(({ showWhen }) => showWhen), [definitions])
  // One text, so that it stays the same until another setting comes or goes.
  const leftOutKeys = useEditor((state) =>
    conditional
      .filter((definition) => isLeftOut(definition, state))
      .map(({ key }) => key)
      .join(' '),
  )
  const leftOut = useMemo(() => new Set(leftOutKeys.split(' ')), [leftOutKeys])

  const { matches, elsewhere } = useMemo(() => {
    const isMatch = createMatcher({ text, onlyModified })
    const found = definitions.filter((definition) => {
      const value = values.get(definition.key)
      return value !== undefined && !leftOut.has(definition.key) && isMatch(definition, value)
    })
    const here = found.filter((definition) => tab === null || tabOf(definition) === tab)
    return { matches: new Set(here.map(({ key }) => key)), elsewhere: found.length - here.length }
  }, [definitions, values, leftOut, tab, text, onlyModified])

  const isSearch = text.trim() !== '' || onlyModified
  const count = matches.size
  const found = useMemo(
    () => ({ text: isSearch ? plural(messages.found, count, locale) : '' }),
    [messages, locale, isSearch, count, text],
  )

  return { definitions, groups, matches, elsewhere, isSearch, leftOut, found }
}
