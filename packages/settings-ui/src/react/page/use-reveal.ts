/** Brings a setting into view: one that an error names, or one that the address names (`#setting:mail.port`). */
import { useEffect, useLayoutEffect, useState } from 'react'
import { elementId } from '../model/setting.ts'
import { useEditor, usePage } from '../page-context.ts'
import { type Results, type Tab, tabOf } from './use-results.ts'
import type { UrlState } from './use-url-state.ts'

interface Wanted {
  readonly key: string
}

interface RevealOptions {
  readonly wanted: Wanted | null
  readonly results: Results
  /** Null where there are no tabs. */
  readonly tab: Tab | null
  readonly changeUrl: (change: Partial<UrlState>) => void
}

export function useReveal({ wanted, results, tab, changeUrl }: RevealOptions): void {
  const { id } = usePage()
  const { definitions, matches, leftOut } = results
  const phase = useEditor((state) => state.phase)
  const [target, setTarget] = useState<Wanted | null>(null)

  useEffect(() => setTarget(wanted), [wanted])

  useEffect(() => {
    if (phase !== 'ready') return undefined
    const follow = (): void => {
      const name = hashOf(location)
      if (name.startsWith('setting:')) setTarget({ key: name.slice('setting:'.length) })
      else if (name !== '') document.getElementById(name)?.scrollIntoView()
    }
    follow()
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [phase])

  // Runs again once the tab is changed and the search is gone.
  useLayoutEffect(() => {
    if (!target) return
    const definition = definitions.find(({ key }) => key === target.key)
    // A link may name a setting of another component on the host's page.
    if (!definition) return setTarget(null)
    // What decides whether it is there shows why it is not.
    if (definition.showWhen && leftOut.has(target.key)) return setTarget({ key: definition.showWhen.key })
    const control = matches.has(target.key) ? document.getElementById(elementId({ id }, definition)) : null
    if (!control) return changeUrl({ scope: tab && tabOf(definition), text: '', onlyModified: false })
    control.closest('details')?.setAttribute('open', '')
    control.focus()
    control.scrollIntoView({ block: 'center' })
    setTarget(null)
  }, [target, matches, leftOut, definitions, id, tab, changeUrl])
}

/** A link may end in a fragment that cannot be decoded. */
function hashOf({ hash }: Location): string {
  try {
    return decodeURIComponent(hash.slice(1))
  } catch {
    return ''
  }
}
