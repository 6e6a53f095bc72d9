/** Tab, search and filter as part of the address, so that links and the back button work. */
import { useCallback, useEffect, useRef, useState } from 'react'

export interface UrlState {
  /** `system` or `application`; null if the address does not say. */
  readonly scope: string | null
  readonly text: string
  readonly onlyModified: boolean
}

/** Milliseconds without a key after which the address follows: changing it takes longer than drawing a frame. */
const pause = 200

/** The state, and its change; `isStep` makes it one that the back button undoes. */
export function useUrlState(): [UrlState, (change: Partial<UrlState>, isStep?: boolean) => void] {
  const [state, setState] = useState(readUrl)
  const latest = useRef(state)

  useEffect(() => {
    const onStep = (): void => {
      latest.current = readUrl()
      setState(latest.current)
    }
    addEventListener('popstate', onStep)
    return () => removeEventListener('popstate', onStep)
  }, [])

  useEffect(() => {
    const timer = setTimeout(() => writeUrl(state, false), pause)
    return () => clearTimeout(timer)
  }, [state])

  const change = useCallback((part: Partial<UrlState>, isStep = false) => {
    latest.current = { ...latest.current, ...part }
    setState(latest.current)
    if (isStep) writeUrl(latest.current, true)
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
