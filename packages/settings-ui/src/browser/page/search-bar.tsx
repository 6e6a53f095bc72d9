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
import { morePart } from '../use-more.ts'
import { Chips, FilterMenu } from '../view/filters.tsx'
import { useView } from '../view/use-results.ts'
import { show } from './use-reveal.ts'
import { longestText } from '../view/use-url-state.ts'

/** Settings from which on there is something to search and to filter. */
const enough = 8

/** @param children in front of the search on narrow pages: what opens the list of groups */
export function SearchBar({ children }: { readonly children: ComponentChildren }): ComponentChildren {
  const { results } = useView()
  const { editor, messages, canUpdate } = usePage()
  // A search that a link has opened stays when it is emptied: the focus is in it.
  const [isAsked, setAsked] = useState(results.isSearch)
  if (results.isSearch && !isAsked) setAsked(true)
  const isMany = results.definitions.length >= enough || isAsked
  if (results.definitions.length === 0 || (!editor.isShared && !isMany)) return null
  return (
    <div className="fm-tools fm-line" part="search">
      {children}
      {isMany && <SearchField />}
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
          <FilterMenu />
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

/**
 * ⌘K leads to it, Enter and the arrow down to the first result, Escape clears. On phones it is as small as a button, and
 * takes the place of the groups until it is left empty.
 */
function SearchField(): ComponentChildren {
  const { id, root, isEmbedded, messages } = usePage()
  const { url, results, changeUrl } = useView()
  const input = useRef<HTMLInputElement>(null)

  useEffect(() => {
    const tree = treeOf(root.current)
    const press = (event: KeyboardEvent): void => {
      if (tree.querySelector('dialog[open]')) return
      event.preventDefault()
      input.current?.focus()
    }
    return listenToShortCut('K', press, isEmbedded ? tree : undefined)
  })

  function onKey(event: KeyboardEvent): void {
    if (event.isComposing) return // the key is for the input method
    if (event.key === 'Escape' && url.text !== '') {
      event.preventDefault()
      search('')
    } else if (event.key === 'Escape') input.current?.blur() // on phones the groups are back
    const first = results.isSearch ? results.sections[0]?.rows[0] : undefined
    if (!first || (event.key !== 'Enter' && event.key !== 'ArrowDown')) return
    event.preventDefault()
    const control = treeOf(root.current).getElementById(elementId({ id }, first.definition))
    if (control) show(control)
  }

  // The first letter is a step: Back leads out of the search.
  const search = (text: string): void => changeUrl({ text, isExact: false }, url.text === '')

  return (
    <span className="fm-field fm-line fm-find" role="search">
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
  )
}

/** Export to a file, and the import. */
function TransferMenu(): ComponentChildren {
  const { api, editor, messages, locale } = usePage()

  async function exportAll(): Promise<void> {
    try {
      const { download } = await morePart.load()
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
      <MenuItem icon="up" onSelect={() => editor.open({ kind: 'import' })}>
        {messages.import}
      </MenuItem>
    </>
  )
}
