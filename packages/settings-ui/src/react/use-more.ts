/** Loads what most visits do without. */
import { useEffect, useState } from 'react'
import type * as more from './more.ts'

type More = typeof more

/** Undefined until it is there, null if it could not be loaded or is not wanted. */
export function useMore(isWanted = true): More | null | undefined {
  const [loaded, setLoaded] = useState<More | null>()
  useEffect(() => {
    if (isWanted) import('./more.ts').then(setLoaded, () => setLoaded(null))
  }, [isWanted])
  return isWanted ? loaded : null
}
