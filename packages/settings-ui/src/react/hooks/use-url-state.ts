/** Tab, search and filter as part of the address, so that links and the back button work. */
import { useCallback, useEffect, useState } from 'react'

export interface UrlState {
  /** `system` or `application`; null if the address does not say. */
  readonly scope: string | null
  readonly text: string
  readonly onlyModified: boolean
}

/** The state, and its change; `isStep` makes it one that the back button undoes. */
export function useUrlState(): [UrlState, (change: Partial<UrlState>, isStep?: boolean) => void] {
  const [state, setState] = useState(readUrl)

  useEffect(() => {
    const onStep = (): void => setState(readUrl())
    addEventListener('popstate', onStep)
    return () => removeEventListener('popstate', onStep)
  }, [])

  const change = useCallback((part: Partial<UrlState>, isStep = false) => {
    setState((before) => {
      const next = { ...before, ...part }
      writeUrl(next, isStep)
      return next
    })
  }, [])
  return [state, change]
}

function readUrl(): UrlState {
  const query = new URLSearchParams(location.search)
  return {
    scope: query.get('scope'),
    text: query.get('q') ?? '',
    onlyModified: query.get('only') === 'modified',
  }
}

function writeUrl({ scope, text, onlyModified }: UrlState, isStep: boolean): void {
  const url = new URL(location.href)
  const parts = { scope, q: text, only: onlyModified ? 'modified' : null }
  for (const [name, value] of Object.entries(parts)) {
    if (value) url.searchParams.set(name, value)
    else url.searchParams.delete(name)
  }
  if (url.href === location.href) return
  // The state belongs to whoever routes the host's pages.
  if (isStep) history.pushState(history.state, '', url)
  else history.replaceState(history.state, '', url)
}
