/** Notices what other processes commit to the same file. */

/** What the watch looks at, and whom it notifies. */
export interface SqliteWatch {
  /** Changes whenever another connection has committed; costs a microsecond. */
  readonly dataVersion: () => unknown
  /** Milliseconds between two looks. */
  readonly interval: number
  readonly onHint: () => void
  readonly onLost: (error: unknown) => void
}

/** A hint is given at least this often, in milliseconds: not everything that happens to a file is noticed. */
const floor = 5000

/** Looks at intervals until the returned function is called. Does not keep the process alive. */
export function watchFile(watch: SqliteWatch): () => void {
  let seen: unknown
  let given = 0
  let lost = false
  const timer = setInterval(look, watch.interval).unref()
  return () => clearInterval(timer)

  function look(): void {
    try {
      const version = watch.dataVersion()
      if (version === seen && !lost && Date.now() - given < floor) return
      seen = version
    } catch (error) {
      if (!lost) watch.onLost(error)
      lost = true
      return
    }
    given = Date.now()
    lost = false
    watch.onHint()
  }
}
