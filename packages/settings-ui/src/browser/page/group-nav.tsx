/** The groups of a page: a list at the side, on narrow pages a menu. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Drawing, Icon } from '../icons.tsx'
import { MenuButton } from '../menu.tsx'
import { fold, plural } from '../../texts/messages.ts'
import { needsAttention } from '../model/editor-state.ts'
import type { Group } from '../model/listing.ts'
import { Recent } from '../others/news-text.tsx'
import { useEditor, usePage } from '../page-context.ts'
import { useView } from '../view/use-results.ts'
import { noSearch, type UrlState, urlOf } from '../view/use-url-state.ts'

export function GroupNav(): ComponentChildren {
  const { messages } = usePage()
  const nav = useRef<HTMLElement>(null)
  const slug = useView().results.current?.slug
  // A link may open a group further down than the list shows.
  useLayoutEffect(() => {
    const list = nav.current
    const link = list?.querySelector<HTMLElement>('[aria-current]')
    if (!list || !link) return
    const end = link.offsetTop + link.offsetHeight - list.clientHeight
    list.scrollTop = Math.max(end, Math.min(list.scrollTop, link.offsetTop))
  }, [slug])
  return (
    <nav className="fm-nav" part="navigation" aria-label={messages.groups} ref={nav}>
      <Groups isShort />
    </nav>
  )
}

/** The name of the group that is open, and the menu of all. */
export function GroupPicker(): ComponentChildren {
  const { messages, groups = {} } = usePage()
  const { url, results } = useView()
  const { current } = results
  const name = url.view === null ? (current?.name ?? messages.groups) : messages.activity
  const icon = groups[current?.group ?? '']?.icon
  return (
    <MenuButton
      className="fm-pick"
      role="group"
      name={`${messages.groups}: ${name}`}
      label={
        <>
          {icon && <Drawing path={icon} />}
          <span dir="auto">{name}</span>
          <Icon name="chevron" />
        </>
      }
    >
      <Groups />
    </MenuButton>
  )
}

/** From so many groups on, their list has a search. */
const many = 12

/** All groups, and what has happened to all settings. */
function Groups({ isShort = false }: { readonly isShort?: boolean }): ComponentChildren {
  const { messages, canUpdate, groups: faces = {} } = usePage()
  const hasIcons = Object.values(faces).some(({ icon }) => icon !== undefined)
  const { url, results } = useView()
  const { groups, current, isSearch } = results
  const [text, setText] = useState('')
  return (
    <>
      {groups.length >= many && <GroupField value={text} onInput={setText} />}
      <ul>
        {groups
          .filter(({ name }) => text === '' || fold(name).includes(fold(text).trim()))
          .map((group) => (
            <li key={group.slug}>
              <NavLink next={{ ...noSearch, group: group.slug }} isCurrent={group.slug === current?.slug}>
                {hasIcons && <Drawing path={faces[group.group ?? '']?.icon ?? ''} />}
                <span dir="auto">
                  {group.name}
                  {!isShort && <span className="fm-small">{faces[group.group ?? '']?.description}</span>}
                </span>
                <GroupNews group={group} />
              </NavLink>
            </li>
          ))}
        {canUpdate && groups.length > 0 && (
          <li className="is-rule">
            <NavLink
              next={{ ...noSearch, group: null, view: 'activity' }}
              isCurrent={url.view !== null && !isSearch}
            >
              {hasIcons && <Icon name="clock" />}
              <span>{messages.activity}</span>
            </NavLink>
          </li>
        )}
      </ul>
    </>
  )
}

interface GroupFieldProps {
  readonly value: string
  readonly onInput: (text: string) => void
}

/** No search box, of which a page has one; Escape clears it. */
function GroupField({ value, onInput }: GroupFieldProps): ComponentChildren {
  const { messages } = usePage()
  return (
    <span className="fm-field fm-line fm-group-field">
      <Icon name="search" />
      <input
        className="fm-bare"
        aria-label={messages.groups}
        placeholder={messages.groups}
        value={value}
        autoComplete="off"
        spellcheck={false}
        onInput={(event) => onInput(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || value === '') return
          event.stopPropagation()
          event.preventDefault() // a menu stays open
          onInput('')
        }}
      />
    </span>
  )
}

interface NavLinkProps {
  readonly next: Partial<UrlState>
  readonly isCurrent: boolean
  readonly children: ComponentChildren
}

/** A link, so that it opens in a new tab too; a button where the address says nothing about groups. */
function NavLink({ next, isCurrent, children }: NavLinkProps): ComponentChildren {
  const { editor, root, isEmbedded } = usePage()
  const { url, changeUrl } = useView()
  function follow(event: MouseEvent): void {
    if (!isEmbedded && (event.ctrlKey || event.metaKey || event.shiftKey)) return
    event.preventDefault()
    editor.dismissMessage()
    changeUrl(next, true)
    if (!isEmbedded) scrollTo(0, 0)
    else if ((root.current?.getBoundingClientRect().top ?? 0) < 0) root.current?.scrollIntoView()
  }

  const props = { 'aria-current': isCurrent ? 'page' : undefined, onClick: follow, children } as const
  if (isEmbedded) return <button type="button" {...props} />
  return <a href={urlOf({ ...url, ...next }).search} {...props} />
}

/** How many of its settings need attention, else how many a search has found, else whether any is unsaved. */
function GroupNews({ group: { slug, definitions } }: { readonly group: Group }): ComponentChildren {
  const { messages, locale } = usePage()
  const { isSearch, byGroup } = useView().results
  const wrong = useEditor(({ drafts, errors }) => needsAttention({ definitions, drafts, errors }).length)
  const isUnsaved = useEditor(({ drafts }) => definitions.some(({ key }) => drafts.has(key)))
  if (wrong > 0 || isSearch) {
    const count = wrong || (byGroup.get(slug) ?? 0)
    return (
      <span className={wrong > 0 ? 'fm-push fm-pill is-bad' : 'fm-push fm-small'}>
        <span aria-hidden="true">{count || ''}</span>
        <span className="fm-hidden">
          {plural(wrong > 0 ? messages.needAttention : messages.found, count, locale)}
        </span>
      </span>
    )
  }
  if (!isUnsaved) return <Recent keys={definitions.map(({ key }) => key)} />
  return (
    <span className="fm-push fm-dot">
      <span className="fm-hidden">{messages.unsavedChanges}</span>
    </span>
  )
}
