/** Above the settings: the search, the tabs of the scopes, export and import. */
import { type KeyboardEvent, type ReactNode, useRef } from 'react'
import { failureText, format } from '../messages.ts'
import { toFailure } from '../model/source.ts'
import { usePage } from '../page-context.ts'
import type { Tab } from './use-results.ts'
import type { UrlState } from './use-url-state.ts'

interface SearchBarProps {
  readonly state: UrlState
  readonly onChange: (change: Partial<UrlState>) => void
}

/** The search, and a checkbox for the filter that is used most. */
export function SearchBar({ state, onChange }: SearchBarProps): ReactNode {
  const { id, messages } = usePage()
  return (
    <div className="fm-search" role="search">
      <input
        type="search"
        aria-label={messages.search}
        aria-describedby={`${id}-search-hint`}
        placeholder={messages.search}
        value={state.text}
        autoComplete="off"
        spellCheck="false"
        onInput={(event) => onChange({ text: event.currentTarget.value })}
      />
      <label>
        <input
          type="checkbox"
          checked={state.onlyModified}
          onChange={(event) => onChange({ onlyModified: event.currentTarget.checked })}
        />
        {messages.onlyChanged}
      </label>
      <p className="fm-hint" id={`${id}-search-hint`}>
        {messages.searchHint}
      </p>
    </div>
  )
}

const tabs = ['system', 'application'] as const

interface ScopeTabsProps {
  readonly current: Tab
  readonly onSelect: (tab: Tab) => void
}

/** The tabs System and Application (APG: tabs with automatic activation). */
export function ScopeTabs({ current, onSelect }: ScopeTabsProps): ReactNode {
  const { id, messages } = usePage()
  const list = useRef<HTMLDivElement>(null)

  function selectByKey(event: KeyboardEvent): void {
    const other = current === 'system' ? 'application' : 'system'
    // With two tabs, both arrows lead to the other one, in both writing directions.
    const targets = new Map<string, Tab>([
      ['Home', 'system'],
      ['End', 'application'],
      ['ArrowLeft', other],
      ['ArrowRight', other],
    ])
    const tab = targets.get(event.key)
    if (!tab) return
    event.preventDefault()
    onSelect(tab)
    document.getElementById(`${id}-tab-${tab}`)?.focus()
  }

  return (
    <div className="fm-tabs" role="tablist" aria-label={messages.scopes} ref={list} onKeyDown={selectByKey}>
      {tabs.map((tab) => (
        <button
          key={tab}
          type="button"
          role="tab"
          id={`${id}-tab-${tab}`}
          aria-selected={tab === current}
          aria-controls={`${id}-settings`}
          tabIndex={tab === current ? 0 : -1}
          onClick={() => onSelect(tab)}
        >
          {messages[tab]}
        </button>
      ))}
    </div>
  )
}

/** Export to a file, and the button that opens the import. */
export function TransferMenu(): ReactNode {
  const { api, editor, messages, open } = usePage()

  async function download(): Promise<void> {
    try {
      const content = await api.exportSettings()
      const url = URL.createObjectURL(new Blob([`${JSON.stringify(content, null, 2)}\n`]))
      const link = Object.assign(document.createElement('a'), { href: url, download: 'settings.json' })
      link.click()
      URL.revokeObjectURL(url)
      editor.announce(format(messages.exportDone, { count: content.settings.length }))
    } catch (error) {
      editor.announce(failureText(toFailure(error), messages))
    }
  }

  return (
    <div className="fm-transfer" role="group" aria-label={messages.transfer}>
      <button type="button" className="fm-quiet" onClick={() => void download()}>
        {messages.export}
      </button>
      <button type="button" className="fm-quiet" onClick={() => open({ kind: 'import' })}>
        {messages.import}
      </button>
    </div>
  )
}
