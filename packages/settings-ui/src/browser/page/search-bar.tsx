/** The search, its filters, and what belongs to the whole page. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../button.tsx'
import { Icon } from '../icons.tsx'
import { MenuButton, MenuItem } from '../menu.tsx'
import { plural } from '../../texts/messages.ts'
import { elementId } from '../model/setting.ts'
import { usePage } from '../page-context.ts'
import { listenToShortCut, shortCutName, treeOf } from '../tree.ts'
import { loadMore, useLater } from '../use-more.ts'
import { Chips } from '../view/filters.tsx'
import { useView } from '../view/use-results.ts'
import { show } from './use-reveal.ts'
import { longestText } from '../view/use-url-state.ts'

/** Settings from which on there is something to search and to filter. */
const enough = 8

/** @param children in front of the search on narrow pages: what opens the list of groups */
export function SearchBar({ children }: { readonly children: ComponentChildren }): ComponentChildren {
  const { url, results } = useView()
  const { editor, messages, canUpdate } = usePage()
  const [isOpen, setOpen] = useState(url.text !== '')
  // A search that a link has opened stays when it is emptied: the focus is in it.
  const [isAsked, setAsked] = useState(results.isSearch)
  if (results.isSearch && !isAsked) setAsked(true)
  const isMany = results.definitions.length >= enough || isAsked
  const later = useLater(isMany)
  if (results.definitions.length === 0 || (!editor.isShared && !isMany)) return null
  const isEmpty = url.text === '' && url.only.length === 0
  return (
    <div
      className={isOpen ? 'fm-tools is-open' : 'fm-tools'}
      part="search"
      // On narrow pages the search takes the place of the groups: they are back when it is left empty.
      onBlurCapture={({ target, currentTarget, relatedTarget }) => {
        const isInside = relatedTarget instanceof Node && currentTarget.contains(relatedTarget)
        const isOpening = target instanceof Element && target.matches('.fm-open-search')
        if (isEmpty && !isInside && !isOpening) setOpen(false)
      }}
    >
      {children}
      {isMany && <SearchField isOpen={isOpen} onOpen={setOpen} />}
      {isMany && editor.isShared && (
        <MenuButton
          className="fm-button fm-filter"
          role="group"
          name={messages.filter}
          label={
            <>
              <Icon name="filter" />
              <span>{messages.filter}</span>
            </>
          }
        >
          {later && <later.FilterMenu />}
        </MenuButton>
      )}
      {editor.isShared && canUpdate && (
        <MenuButton
          className={isMany ? 'fm-button is-icon' : 'fm-button is-icon fm-push'}
          name={messages.more}
          label={<Icon name="more" />}
        >
          <TransferMenu />
        </MenuButton>
      )}
      <Chips />
    </div>
  )
}

interface SearchFieldProps {
  readonly isOpen: boolean
  readonly onOpen: (isOpen: boolean) => void
}

/** ⌘K leads to it, Enter and the arrow down to the first result, Escape clears. On phones it opens from a button. */
function SearchField({ isOpen, onOpen }: SearchFieldProps): ComponentChildren {
  const { id, root, isEmbedded, messages } = usePage()
  const { url, results, changeUrl } = useView()
  const input = useRef<HTMLInputElement>(null)
  const button = useRef<HTMLButtonElement>(null)

  useEffect(() => {
    const tree = treeOf(root.current)
    const press = (event: KeyboardEvent): void => {
      if (tree.querySelector('dialog[open]')) return
      event.preventDefault()
      open()
    }
    return listenToShortCut('K', press, isEmbedded ? tree : undefined)
  })

  function open(): void {
    onOpen(true)
    requestAnimationFrame(() => input.current?.focus())
  }

  /** On phones; elsewhere the field stays, and there is no button that could have the focus. */
  function close(): void {
    onOpen(false)
    requestAnimationFrame(() => button.current?.focus())
  }

  function onKey(event: KeyboardEvent): void {
    if (event.isComposing) return // the key is for the input method
    if (event.key === 'Escape' && url.text !== '') {
      event.preventDefault()
      search('')
    } else if (event.key === 'Escape') close()
    const first = results.isSearch ? results.sections[0]?.rows[0] : undefined
    if (!first || (event.key !== 'Enter' && event.key !== 'ArrowDown')) return
    event.preventDefault()
    const control = treeOf(root.current).getElementById(elementId({ id }, first.definition))
    if (control) show(control)
  }

  // The first letter is a step: Back leads out of the search.
  const search = (text: string): void => changeUrl({ text, isExact: false }, url.text === '')

  return (
    <>
      <span className="fm-field fm-find" role="search">
        <Icon name="search" />
        <input
          ref={input}
          className="fm-bare"
          role="searchbox"
          inputMode="search"
          aria-label={messages.search}
          aria-keyshortcuts="Control+K Meta+K"
          placeholder={messages.search}
          value={url.text}
          maxLength={longestText}
          autoComplete="off"
          spellcheck={false}
          enterKeyHint="search"
          onInput={(event) => search(event.currentTarget.value)}
          onKeyDown={onKey}
        />
        {url.text ? (
          <Button
            look="quiet"
            aria-label={messages.clearSearch}
            onClick={() => {
              search('')
              input.current?.focus()
            }}
            icon="close"
          />
        ) : (
          <kbd aria-hidden="true">{shortCutName('K')}</kbd>
        )}
      </span>
      {!isOpen && (
        <button
          type="button"
          ref={button}
          className="fm-button is-icon fm-open-search"
          aria-label={messages.search}
          onClick={open}
        >
          <Icon name="search" />
        </button>
      )}
    </>
  )
}

/** Export to a file, and the import. */
function TransferMenu(): ComponentChildren {
  const { api, editor, messages, locale, open } = usePage()

  async function exportAll(): Promise<void> {
    try {
      const { download } = await loadMore()
      const count = await download(api)
      editor.say({ kind: 'done', text: plural(messages.exportDone, count, locale) })
    } catch (error) {
      editor.say({ kind: 'bad', text: editor.explain(error) })
    }
  }

  return (
    <>
      <MenuItem icon="down" onSelect={() => void exportAll()}>
        {messages.export}
      </MenuItem>
      <MenuItem icon="up" onSelect={() => open({ kind: 'import' })}>
        {messages.import}
      </MenuItem>
    </>
  )
}
