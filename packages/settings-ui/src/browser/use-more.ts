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

const morePart = new Part<typeof more>(() => import('./more.ts'))
const laterPart = new Part<typeof later>(() => import('./later.ts'))
const tenantPart = new Part<typeof tenantPage>(() => import('./tenant-page.tsx'))

/** What most visits do without. */
export const loadMore = morePart.load
/** What only pages with an organisation need. */
export const loadTenantPage = tenantPart.load

/** The same for components. Undefined until it is there, null if it could not be loaded or is not wanted. */
export function useMore(isWanted = true): typeof more | null | undefined {
  return usePart(morePart, isWanted)
}

/** What follows the first row, in the same way. */
export function useLater(isWanted = true): typeof later | null | undefined {
  return usePart(laterPart, isWanted)
}

export function useTenantPage(isWanted: boolean): typeof tenantPage | null | undefined {
  return usePart(tenantPart, isWanted)
}

/** At once where it was loaded before: a menu takes the key that follows the one that opened it. */
function usePart<Module>(part: Part<Module>, isWanted: boolean): Module | null | undefined {
  const [loaded, setLoaded] = useState<Module | null>()
  useEffect(() => {
    if (isWanted && !part.loaded) part.load().then(setLoaded, () => setLoaded(null))
  }, [isWanted])
  return isWanted ? (part.loaded ?? loaded) : null
}
