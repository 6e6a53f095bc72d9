/** The groups of settings: their cards, and the navigation between them. */
import { type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { type Group, groupId } from '../model/listing.ts'
import type { Definition } from '../model/setting.ts'
import { useEditor, usePage } from '../page-context.ts'
import { SettingRow } from '../setting-row.tsx'

interface RowsProps {
  readonly definitions: readonly Definition[]
  readonly matches: ReadonlySet<string>
}

interface GroupCardProps extends Pick<RowsProps, 'matches'> {
  readonly group: Group
  readonly isSearch: boolean
}

/** One group. Rows that do not match the search are hidden, not removed: a keystroke stays cheap. */
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

interface GroupNavProps {
  readonly groups: readonly Group[]
  readonly matches: ReadonlySet<string>
}

/** The groups of a page, as links; the one in view is marked. */
export function GroupNav({ groups, matches }: GroupNavProps): ReactNode {
  const { id, messages } = usePage()
  const current = useGroupInView(id, groups)
  return (
    <nav className="fm-nav" aria-label={messages.groups}>
      <ul>
        {groups.map(({ name, slug, definitions }) => {
          const count = definitions.filter(({ key }) => matches.has(key)).length
          return (
            <li key={slug} hidden={count === 0}>
              <a href={`#${groupId(id, slug)}`} aria-current={slug === current ? 'true' : undefined}>
                {name} <span className="fm-count">{count}</span>
              </a>
            </li>
          )
        })}
      </ul>
    </nav>
  )
}

/** The slug of the topmost group that is in view. */
function useGroupInView(id: string, groups: readonly Group[]): string | undefined {
  const [slug, setSlug] = useState<string>()
  useEffect(() => {
    const visible = new Set<string>()
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          if (isIntersecting) visible.add(target.id)
          else visible.delete(target.id)
        }
        setSlug(groups.find((group) => visible.has(groupId(id, group.slug)))?.slug)
      },
      { rootMargin: '-20% 0px -60%' },
    )
    for (const group of groups) {
      const section = document.getElementById(groupId(id, group.slug))
      if (section) observer.observe(section)
    }
    return () => observer.disconnect()
  }, [id, groups])
  return slug ?? groups[0]?.slug
}
