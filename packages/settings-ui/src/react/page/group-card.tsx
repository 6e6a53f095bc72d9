/** One group of settings. Rows that do not match the search are hidden, not removed: a keystroke stays cheap. */
import { type ReactNode, useLayoutEffect, useMemo, useRef } from 'react'
import { type Group, groupId } from '../model/groups.ts'
import type { Definition } from '../model/setting.ts'
import { SettingRow } from '../row/setting-row.tsx'
import { useEditor, usePage } from '../shared/page-context.ts'

interface RowsProps {
  readonly definitions: readonly Definition[]
  readonly matches: ReadonlySet<string>
}

interface GroupCardProps extends Pick<RowsProps, 'matches'> {
  readonly group: Group
  readonly isSearch: boolean
}

export function GroupCard({ group, matches, isSearch }: GroupCardProps): ReactNode {
  const { id } = usePage()
  const { name, slug, definitions } = group
  const [common, advanced] = useMemo(
    () => [definitions.filter((each) => !each.advanced), definitions.filter((each) => each.advanced)],
    [definitions],
  )
  return (
    <section
      className="fm-card"
      id={groupId(id, slug)}
      aria-label={name}
      hidden={!hasMatch(definitions, matches)}
    >
      <h2>{name}</h2>
      <Rows definitions={common} matches={matches} />
      {advanced.length > 0 && <Advanced definitions={advanced} matches={matches} isSearch={isSearch} />}
    </section>
  )
}

function Rows({ definitions, matches }: RowsProps): ReactNode {
  // The same elements again are not rendered again, whatever the search hides.
  const rows = useMemo(
    () => definitions.map((definition) => <SettingRow key={definition.key} definition={definition} />),
    [definitions],
  )
  return rows.map((row, index) => (
    <div key={row.key} hidden={!matches.has(definitions[index]?.key ?? '')}>
      {row}
    </div>
  ))
}

/** Opened by the user, by a search, and by what is unsaved; closed by the user only. */
function Advanced({ definitions, matches, isSearch }: RowsProps & { readonly isSearch: boolean }): ReactNode {
  const { messages } = usePage()
  const hasDraft = useEditor(({ drafts }) => definitions.some(({ key }) => drafts.has(key)))
  const details = useRef<HTMLDetailsElement>(null)
  useLayoutEffect(() => {
    if (isSearch || hasDraft) details.current?.setAttribute('open', '')
  }, [isSearch, hasDraft])
  return (
    <details className="fm-more" ref={details} hidden={!hasMatch(definitions, matches)}>
      <summary>{messages.advanced}</summary>
      <Rows definitions={definitions} matches={matches} />
    </details>
  )
}

function hasMatch(definitions: readonly Definition[], matches: ReadonlySet<string>): boolean {
  return definitions.some(({ key }) => matches.has(key))
}
