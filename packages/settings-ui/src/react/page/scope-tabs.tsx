/** The tabs System and Application (APG: tabs with automatic activation). */
import { type KeyboardEvent, type ReactNode, useRef } from 'react'
import { usePage } from '../shared/page-context.ts'
import type { Tab } from './use-results.ts'

const tabs = ['system', 'application'] as const

interface ScopeTabsProps {
  readonly current: Tab
  readonly onSelect: (tab: Tab) => void
}

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
