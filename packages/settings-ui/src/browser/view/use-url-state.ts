/** Group, search and filters as part of the address, so that links and the back button work. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type Filter, toFilters } from '../model/listing.ts'

export interface UrlState {
  /** The slug of a group; null if the address does not say. */
  readonly group: string | null
  /** `activity` shows what has happened to settings in place of a group. */
  readonly view: string | null
  readonly text: string
  /** Search for the text as it is, whatever it could mean. */
  readonly isExact: boolean
  readonly only: readonly Filter[]
}

/** Neither a search nor a filter, and settings in view. */
export const noSearch = { view: null, text: '', isExact: false, only: [] } as const

/** Milliseconds without a key after which the address follows: changing it takes longer than drawing a frame. */
const pause = 200

/** Characters of a search, as many as the API takes: a link may have any number, and each costs work. */
export const longestText = 100

const nothing: UrlState = { group: null, ...noSearch }

interface UrlOptions {
  /** Whether the address is this page's; one that is not is neither read nor changed. */
  readonly isOwner: boolean
}

/** Changes the state; `isStep` makes it one that the back button undoes. */
export type ChangeUrl = (change: Partial<UrlState>, isStep?: boolean) => void

export function useUrlState({ isOwner }: UrlOptions): [UrlState, ChangeUrl] {
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
    const timer = setTimeout(() => writeUrl(latest.current, false), pause) // never older than the last step
    return () => clearTimeout(timer)
  }, [isOwner, state])

  const change = useCallback<ChangeUrl>(
    (part, isStep = false) => {
      latest.current = { ...latest.current, ...part }
      setState(latest.current)
      if (isStep && isOwner) writeUrl(latest.current, true)
    },
    [isOwner],
  )
  return [state, change]
}

function readUrl(): UrlState {
  const query = new URLSearchParams(location.search)
  return {
    group: query.get('group'),
    view: query.get('view') === 'activity' ? 'activity' : null,
    text: (query.get('q') ?? '').slice(0, longestText),
    isExact: query.has('exact'),
    only: toFilters((query.get('only') ?? '').split(',')),
  }
}

function writeUrl(state: UrlState, isStep: boolean): void {
  const url = urlOf(state)
  if (url.search === location.search) return // a link to a setting that was copied meanwhile stays
  // The state belongs to the router of the host.
  if (isStep) history.pushState(history.state, '', url)
  else history.replaceState(history.state, '', url)
}

/** The address of this page in another state. */
export function urlOf({ group, view, text, isExact, only }: UrlState): URL {
  const url = new URL(location.href)
  const parts = { group, view, q: text, exact: isExact && text ? '1' : '', only: only.join(',') }
  if (url.searchParams.get('group') !== group) url.hash = ''
  for (const [name, value] of Object.entries(parts)) {
    if (value) url.searchParams.set(name, value)
    else url.searchParams.delete(name)
  }
  return url
}
