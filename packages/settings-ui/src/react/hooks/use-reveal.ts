/** Brings a setting into view: one that an error names, or one that the address names (`#setting:mail.port`). */
import { useEffect, useLayoutEffect, useState } from 'react'
import { elementId } from '../model/setting.ts'
import { useEditor } from '../page/page-context.ts'
import { type Results, tabOf } from './use-results.ts'
import type { UrlState } from './use-url-state.ts'

interface Wanted {
  readonly key: string
}

export function useReveal(
  wanted: Wanted | null,
  { matches, leftOut }: Pick<Results, 'matches' | 'leftOut'>,
  changeUrl: (change: Partial<UrlState>) => void,
): void {
  const definitions = useEditor((state) => state.definitions)
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
    if (!definition) return setTarget(null)
    // What decides whether it is there shows why it is not.
    if (definition.showWhen && leftOut.has(target.key)) return setTarget({ key: definition.showWhen.key })
    const control = matches.has(target.key) ? document.getElementById(elementId(definition)) : null
    if (!control) return changeUrl({ scope: tabOf(definition), text: '', onlyModified: false })
    control.closest('details')?.setAttribute('open', '')
    control.focus()
    control.scrollIntoView({ block: 'center' })
    setTarget(null)
  }, [target, matches, leftOut, definitions, changeUrl])
}

/** Anybody can make a link whose end cannot be decoded. */
function hashOf({ hash }: Location): string {
  try {
    return decodeURIComponent(hash.slice(1))
  } catch {
    return ''
  }
}
