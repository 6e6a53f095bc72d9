/** The groups of a page: a list at the side, on narrow pages a menu. */
import { type MouseEvent, type ReactNode, useLayoutEffect, useRef } from 'react'
import { Icon } from '../icons.tsx'
import { MenuButton } from '../menu.tsx'
import { plural } from '../../texts/messages.ts'
import { needsAttention } from '../model/editor-state.ts'
import type { Group } from '../model/listing.ts'
import { useEditor, usePage } from '../page-context.ts'
import type { Results } from './use-results.ts'
import { type ChangeUrl, noSearch, type UrlState, urlOf } from './use-url-state.ts'

interface GroupNavProps {
  readonly results: Results
  readonly state: UrlState
  readonly changeUrl: ChangeUrl
}

export function GroupNav(props: GroupNavProps): ReactNode {
  const { messages, canUpdate } = usePage()
  const nav = useRef<HTMLElement>(null)
  const slug = props.results.current?.slug
  // A link may open a group further down than the list shows.
  useLayoutEffect(() => {
    const list = nav.current
    const link = list?.querySelector<HTMLElement>('[aria-current]')
    if (!list || !link) return
    const end = link.offsetTop + link.offsetHeight - list.clientHeight
    list.scrollTop = Math.max(end, Math.min(list.scrollTop, link.offsetTop))
  }, [slug])
  return (
    <nav className="fm-nav" aria-label={messages.groups} ref={nav}>
      <ul>
        {props.results.groups.map((group) => (
          <li key={group.slug}>
            <GroupLink {...props} group={group} />
          </li>
        ))}
        {canUpdate && props.results.groups.length > 0 && (
          <li className="is-rule">
            <ActivityLink {...props} />
          </li>
        )}
      </ul>
    </nav>
  )
}

/** The name of the group that is open, and the menu of all. */
export function GroupPicker(props: GroupNavProps): ReactNode {
  const { messages, canUpdate } = usePage()
  const { current, groups } = props.results
  const name = props.state.view === null ? (current?.name ?? messages.groups) : messages.activity
  return (
    <MenuButton
      className="fm-pick"
      role="group"
      name={`${messages.groups}: ${name}`}
      label={
        <>
          <span dir="auto">{name}</span>
          <Icon name="chevron" />
        </>
      }
    >
      {(close) => (
        <>
          {groups.map((group) => (
            <GroupLink key={group.slug} {...props} group={group} onFollow={close} />
          ))}
          {canUpdate && <ActivityLink {...props} onFollow={close} />}
        </>
      )}
    </MenuButton>
  )
}

interface NavLinkProps extends GroupNavProps {
  readonly onFollow?: () => void
}

function GroupLink({ group, ...props }: NavLinkProps & { readonly group: Group }): ReactNode {
  const { slug } = group
  return (
    <NavLink {...props} next={{ ...noSearch, group: slug }} isCurrent={slug === props.results.current?.slug}>
      <span dir="auto">{group.name}</span>
      <GroupNews
        group={group}
        found={props.results.isSearch ? (props.results.byGroup.get(slug) ?? 0) : null}
      />
    </NavLink>
  )
}

/** To what has happened to all settings. */
function ActivityLink(props: NavLinkProps): ReactNode {
  const { messages } = usePage()
  const next = { ...noSearch, group: null, view: 'activity' }
  return (
    <NavLink {...props} next={next} isCurrent={props.state.view !== null && !props.results.isSearch}>
      <span>{messages.activity}</span>
    </NavLink>
  )
}

interface NavLinkTarget extends NavLinkProps {
  readonly next: Partial<UrlState>
  readonly isCurrent: boolean
  readonly children: ReactNode
}

/** A link, so that it opens in a new tab too; a button where the address says nothing about groups. */
function NavLink({ state, changeUrl, onFollow, next, isCurrent, children }: NavLinkTarget): ReactNode {
  const { root, isEmbedded } = usePage()
  const ariaCurrent = isCurrent ? 'page' : undefined
  function follow(event: MouseEvent<HTMLElement>): void {
    if (!isEmbedded && (event.ctrlKey || event.metaKey || event.shiftKey)) return
    event.preventDefault()
    onFollow?.()
    changeUrl(next, true)
    const page = root.current
    if (page && page.getBoundingClientRect().top < 0) page.scrollIntoView()
  }

  if (isEmbedded) {
    return (
      <button type="button" aria-current={ariaCurrent} onClick={follow}>
        {children}
      </button>
    )
  }
  return (
    <a href={urlOf({ ...state, ...next }).search} aria-current={ariaCurrent} onClick={follow}>
      {children}
    </a>
  )
}

interface GroupNewsProps {
  readonly group: Group
  /** How many of its settings a search has found; null without one. */
  readonly found: number | null
}

/** How many of its settings need attention, else how many were found, else whether any differs from its default. */
function GroupNews({ group: { definitions }, found }: GroupNewsProps): ReactNode {
  const { messages, locale } = usePage()
  const count = useEditor(({ drafts }) => needsAttention({ definitions, drafts }).length)
  const isChanged = useEditor(({ values, drafts }) =>
    definitions.some(({ key }) => drafts.has(key) || values.get(key)?.isOverridden),
  )
  if (count > 0) {
    return (
      <span className="fm-end fm-pill is-bad">
        <span aria-hidden="true">{count}</span>
        <span className="fm-hidden">{plural(messages.needAttention, count, locale)}</span>
      </span>
    )
  }
  if (found !== null) {
    return (
      <span className="fm-end fm-small">
        <span aria-hidden="true">{found || ''}</span>
        <span className="fm-hidden">{plural(messages.found, found, locale)}</span>
      </span>
    )
  }
  return isChanged ? (
    <span className="fm-end fm-dot">
      <span className="fm-hidden">{messages.hasChanges}</span>
    </span>
  ) : null
}
