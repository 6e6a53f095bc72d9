/** Loads what a page can do without at first. */
import { useEffect, useState } from 'preact/hooks'
import type * as later from './later.ts'
import type * as more from './more.ts'
import type * as tenantPage from './tenant-page.tsx'

/** What most visits do without. */
export const loadMore = (): Promise<typeof more> => import('./more.ts')
/** What only pages with an organisation need. */
export const loadTenantPage = (): Promise<typeof tenantPage> => import('./tenant-page.tsx')
const loadLater = (): Promise<typeof later> => import('./later.ts')

/** The same for components. Undefined until it is there, null if it could not be loaded or is not wanted. */
export function useMore(isWanted = true): typeof more | null | undefined {
  return useLoaded(loadMore, isWanted)
}

/** What follows the first row, in the same way. */
export function useLater(isWanted = true): typeof later | null | undefined {
  return useLoaded(loadLater, isWanted)
}

export function useTenantPage(isWanted: boolean): typeof tenantPage | null | undefined {
  return useLoaded(loadTenantPage, isWanted)
}

function useLoaded<Module>(load: () => Promise<Module>, isWanted: boolean): Module | null | undefined {
  const [loaded, setLoaded] = useState<Module | null>()
  useEffect(() => {
    if (isWanted) load().then(setLoaded, () => setLoaded(null))
  }, [isWanted])
  return isWanted ? loaded : null
}
