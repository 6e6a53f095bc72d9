/** Loads what most visits do without. */
import { useEffect, useState } from 'react'

type More = typeof import('./more.ts')

/** Undefined until it is there, null if it could not be loaded or is not wanted. */
export function useMore(isWanted = true): More | null | undefined {
  const [more, setMore] = useState<More | null>()
  useEffect(() => {
    if (isWanted) import('./more.ts').then(setMore, () => setMore(null))
  }, [isWanted])
  return isWanted ? more : null
}
