/** Search, and the most wanted filter as a box to tick. */
import type { ReactNode } from 'react'
import { usePage } from '../shared/page-context.ts'
import type { UrlState } from './use-url-state.ts'

interface SearchBarProps {
  readonly state: UrlState
  readonly onChange: (change: Partial<UrlState>) => void
}

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
