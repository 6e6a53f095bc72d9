/** The field of the search. */
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react'
import { Icon } from '../icons.tsx'
import { elementId } from '../model/setting.ts'
import { usePage } from '../page-context.ts'
import { listenToKeys, treeOf } from '../tree.ts'
import { searchKeys } from './keys.ts'
import type { SearchProps } from './use-results.ts'
import { show } from './use-reveal.ts'
import { longestText } from './use-url-state.ts'

interface SearchFieldProps extends SearchProps {
  readonly isOpen: boolean
  readonly onOpen: (isOpen: boolean) => void
}

/** ⌘K leads to it, Enter and the arrow down to the first result, Escape clears. On phones it opens from a button. */
export function SearchField({ state, results, changeUrl, isOpen, onOpen }: SearchFieldProps): ReactNode {
  const { id, root, messages } = usePage()
  const input = useRef<HTMLInputElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  useSearchKey(open)

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
    if (event.nativeEvent.isComposing) return // the key is for the input method
    if (event.key === 'Escape' && state.text !== '') {
      event.preventDefault()
      search('')
    } else if (event.key === 'Escape') close()
    const first = results.isSearch ? results.sections[0]?.rows[0] : undefined
    if (!first || (event.key !== 'Enter' && event.key !== 'ArrowDown')) return
    event.preventDefault()
    const control = treeOf(root.current).getElementById(elementId({ id }, first.definition))
    if (control) show(control)
  }

  const search = (text: string): void => changeUrl({ text, isExact: false })

  return (
    <>
      <span className="fm-field fm-find" role="search">
        <Icon name="search" />
        <input
          ref={input}
          className="fm-bare"
          type="search"
          aria-label={messages.search}
          aria-keyshortcuts="Control+K Meta+K"
          placeholder={messages.search}
          value={state.text}
          maxLength={longestText}
          autoComplete="off"
          spellCheck="false"
          enterKeyHint="search"
          onInput={(event) => search(event.currentTarget.value)}
          onKeyDown={onKey}
        />
        {state.text ? (
          <button
            type="button"
            className="fm-button is-quiet is-icon"
            aria-label={messages.clearSearch}
            onClick={() => {
              search('')
              input.current?.focus()
            }}
          >
            <Icon name="close" />
          </button>
        ) : (
          <kbd aria-hidden="true">{searchKeys}</kbd>
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

function useSearchKey(focus: () => void): void {
  const { root } = usePage()
  useEffect(() => {
    const tree = treeOf(root.current)
    return listenToKeys(tree, (event) => {
      const isMeant =
        (event.ctrlKey || event.metaKey) &&
        event.key.toLowerCase() === 'k' &&
        !event.shiftKey &&
        !event.altKey
      if (!isMeant || tree.querySelector('dialog[open]')) return
      event.preventDefault()
      focus()
    })
  })
}
