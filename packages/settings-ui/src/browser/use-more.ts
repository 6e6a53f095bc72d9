/** Loads what a page can do without at first. */
import { useEffect, useState } from 'preact/hooks'
import type * as more from './more.ts'
import type * as others from './others.ts'

/** What most visits do without. */
export const loadMore = (): Promise<typeof more> => import('./more.ts')
const loadOthers = (): Promise<typeof others> => import('./others.ts')

/** The same for components. Undefined until it is there, null if it could not be loaded or is not wanted. */
export function useMore(isWanted = true): typeof more | null | undefined {
  return useLoaded(loadMore, isWanted)
}

/** What shows the changes of others, in the same way. */
export function useOthers(isWanted: boolean): typeof others | null | undefined {
  return useLoaded(loadOthers, isWanted)
}

function useLoaded<Module>(load: () => Promise<Module>, isWanted: boolean): Module | null | undefined {
  const [loaded, setLoaded] = useState<Module | null>()
  useEffect(() => {
    if (isWanted) load().then(setLoaded, () => setLoaded(null))
  }, [isWanted])
  return isWanted ? loaded : null
}
