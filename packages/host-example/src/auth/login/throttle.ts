/** Counts attempts: so many a minute for one key. */

export interface Throttle {
  /** Counts an attempt. Seconds to wait when there were too many, else 0. */
  take(key: string): number
  /** Takes one attempt back: it proved to be no attack. */
  giveBack(key: string): void
  /** Forgets the attempts of a key. */
  reset(key: string): void
}

interface Window {
  readonly endsAt: number
  readonly attempts: number
}

/** In memory: it bounds what one process lets through. `now` is in ms. */
export function createThrottle(
  { limit = 10, window = 60_000, maxKeys = 10_000 } = {},
  now: () => number = Date.now,
): Throttle {
  const windows = new Map<string, Window>()

  return {
    take(key) {
      const time = now()
      const known = windows.get(key)
      const current = known && known.endsAt > time ? known : { endsAt: time + window, attempts: 0 }
      if (current.attempts >= limit) return Math.ceil((current.endsAt - time) / 1000)
      windows.delete(key) // moves the key to the end: the first one is the oldest
      windows.set(key, { ...current, attempts: current.attempts + 1 })
      if (windows.size > maxKeys) forgetOldest(windows)
      return 0
    },
    giveBack(key) {
      const known = windows.get(key)
      if (known) windows.set(key, { ...known, attempts: known.attempts - 1 })
    },
    reset: (key) => void windows.delete(key),
  }
}

function forgetOldest(windows: Map<string, Window>): void {
  for (const key of windows.keys()) {
    windows.delete(key)
    return
  }
}
