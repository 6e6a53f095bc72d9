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

const nothing: UrlState = { scope: null, text: '', onlyModified: false }

interface UrlOptions {
  /** Whether the address is this page's; one that is not is neither read nor changed. */
  readonly isOwner: boolean
}

/** The state, and its change; `isStep` makes it one that the back button undoes. */
export function useUrlState({
  isOwner,
}: UrlOptions): [UrlState, (change: Partial<UrlState>, isStep?: boolean) => void] {
  const [state, setState] = useState(isOwner ? readUrl : nothing)
  const latest = useRef(state)

  useEffect(() => {
    if (!isOwner) return undefined
    const onStep = (): void => {
      latest.current = readUrl()
      setState(latest.current)
    }
    addEventListener('popstate', onStep)
    return () => removeEventListener('popstate', onStep)
  }, [isOwner])

  useEffect(() => {
    if (!isOwner) return undefined
    const timer = setTimeout(() => writeUrl(state, false), pause)
    return () => clearTimeout(timer)
  }, [isOwner, state])

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
  // The state belongs to the router of the host.
  if (isStep) history.pushState(history.state, '', url)
  else history.replaceState(history.state, '', url)
}
