/** The field of the search, and the keys that lead to it. */
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { Icon } from '../icons.tsx'
import { format } from '../../texts/messages.ts'
import { elementId } from '../model/setting.ts'
import { usePage } from '../page-context.ts'
import { listenToKeys, treeOf } from '../tree.ts'
import type { Row, SearchProps } from './use-results.ts'
import { mark, show } from './use-reveal.ts'
import { longestText } from './use-url-state.ts'

interface SearchFieldProps extends SearchProps {
  readonly isOpen: boolean
  readonly onOpen: (isOpen: boolean) => void
}

/** / and ⌘K lead to it, arrows walk the results, Enter goes to one, Escape clears. On phones it opens from a button. */
export function SearchField({ state, results, changeUrl, isOpen, onOpen }: SearchFieldProps): ReactNode {
  const { id, root, messages } = usePage()
  const input = useRef<HTMLInputElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const [at, setAt] = useState(-1)
  const isSlashOn = useSearchKeys(open)
  const rows = results.isSearch ? results.sections.flatMap((section) => section.rows) : []
  const active = rows[at]
  const controlOf = (row: Row | undefined): HTMLElement | null =>
    row ? treeOf(root.current).getElementById(elementId({ id }, row.definition)) : null

  function open(): void {
    onOpen(true)
    requestAnimationFrame(() => input.current?.focus())
  }

  /** On phones; elsewhere the field stays, and there is no button that could have the focus. */
  function close(): void {
    onOpen(false)
    requestAnimationFrame(() => button.current?.focus())
  }

  function walk(event: KeyboardEvent): void {
    if (event.nativeEvent.isComposing) return // the key is for the input method
    if (event.key === 'Escape' && state.text !== '') {
      event.preventDefault()
      search('')
    } else if (event.key === 'Escape') close()
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && rows.length > 0) {
      event.preventDefault()
      walkTo(at < 0 && step < 0 ? rows.length - 1 : (at + step + rows.length) % rows.length)
    }
    if (event.key === 'Enter') {
      const control = controlOf(active ?? rows[0])
      if (control) show(control)
    }
  }

  function walkTo(index: number): void {
    setAt(index)
    mark(treeOf(root.current), controlOf(rows[index]), 'nearest')
  }

  function search(text: string): void {
    setAt(-1)
    changeUrl({ text, isExact: false })
  }

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
          onKeyDown={walk}
        />
        <span className="fm-hidden" aria-live="polite">
          {active &&
            format(messages.resultAt, {
              name: active.definition.displayName,
              index: at + 1,
              count: rows.length,
            })}
        </span>
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
          isSlashOn && <kbd aria-hidden="true">/</kbd>
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

const slashKey = 'fm-slash'

/** A key that is a letter alone can be switched off (WCAG 2.1.4); the choice is one of this browser. */
export function isSlashWanted(): boolean {
  try {
    return localStorage.getItem(slashKey) !== 'off'
  } catch {
    return true
  }
}

function useSearchKeys(focus: () => void): boolean {
  const { root } = usePage()
  const [isSlashOn, setSlashOn] = useState(isSlashWanted)
  useEffect(() => {
    const tree = treeOf(root.current)
    const onKey = (event: globalThis.KeyboardEvent): void => {
      const isTyping =
        event.target instanceof Element &&
        event.target.closest(
          'input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable], [popover], dialog',
        ) !== null
      const isMeant =
        event.ctrlKey || event.metaKey
          ? event.key.toLowerCase() === 'k' && !event.shiftKey
          : event.key === '/' && !isTyping && isSlashWanted()
      if (!isMeant || event.altKey || tree.querySelector('dialog[open]')) return
      event.preventDefault()
      focus()
    }
    const follow = (): void => setSlashOn(isSlashWanted())
    const stop = listenToKeys(tree, onKey)
    addEventListener(slashKey, follow)
    return () => {
      stop()
      removeEventListener(slashKey, follow)
    }
  })
  return isSlashOn
}

export function wantSlash(isWanted: boolean): void {
  try {
    localStorage.setItem(slashKey, isWanted ? 'on' : 'off')
  } catch {
    // Without storage it stays as it is.
  }
  dispatchEvent(new Event(slashKey))
}
