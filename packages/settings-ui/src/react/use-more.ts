/** Loads what most visits do without. */
import { useEffect, useState } from 'react'
import type * as more from './more.ts'

/** Undefined until it is there, null if it could not be loaded or is not wanted. */
export function useMore(isWanted = true): typeof more | null | undefined {
  const [loaded, setLoaded] = useState<typeof more | null>()
  useEffect(() => {
    if (isWanted) import('./more.ts').then(setLoaded, () => setLoaded(null))
  }, [isWanted])
  return isWanted ? loaded : null
}
