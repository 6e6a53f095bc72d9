/** Loads what a page can do without at first. */
import { useEffect, useState } from 'preact/hooks'
import type * as later from './later.ts'
import type * as more from './more.ts'
import type * as tenantPage from './tenant-page.tsx'

class Part<Module> {
  /** Undefined until it is there. */
  loaded: Module | undefined
  readonly load: () => Promise<Module>

  constructor(fetch: () => Promise<Module>) {
    this.load = async () => (this.loaded = await fetch())
  }
}

/** What most visits do without. */
export const morePart = new Part<typeof more>(() => import('./more.ts'))
/** What follows the first row. */
export const laterPart = new Part<typeof later>(() => import('./later.ts'))
/** What only pages with an organisation need. */
export const tenantPart = new Part<typeof tenantPage>(() => import('./tenant-page.tsx'))

/**
 * Undefined until it is there, null if it could not be loaded or is not wanted. At once where it was loaded before: a menu
 * takes the key that follows the one that opened it.
 */
export function usePart<Module>(part: Part<Module>, isWanted = true): Module | null | undefined {
  const [loaded, setLoaded] = useState<Module | null>()
  useEffect(() => {
    if (isWanted && !part.loaded) part.load().then(setLoaded, () => setLoaded(null))
  }, [isWanted])
  return isWanted ? (part.loaded ?? loaded) : null
}
