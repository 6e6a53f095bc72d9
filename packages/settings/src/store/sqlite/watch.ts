/** Notices what other processes commit to the same file. */

/** What the watch looks at, and whom it tells. */
export interface SqliteWatch {
  /** Changes whenever another connection has committed; costs a microsecond. */
  readonly dataVersion: () => unknown
  readonly revision: () => number
  /** Milliseconds between two looks. */
  readonly interval: number
  readonly onRevision: (revision: number) => void
  readonly onLost: (error: unknown) => void
}

/** The revision is told again at least this often, in milliseconds, whether or not something was noticed. */
const floor = 5000

/** Looks at intervals until the returned function is called. Does not keep the process alive. */
export function watchFile(watch: SqliteWatch): () => void {
  let seen: unknown
  let told = 0
  let lost = false
  const timer = setInterval(look, watch.interval).unref()
  return () => clearInterval(timer)

  function look(): void {
    let revision: number
    try {
      const version = watch.dataVersion()
      if (version === seen && !lost && Date.now() - told < floor) return
      revision = watch.revision()
      seen = version
    } catch (error) {
      if (!lost) watch.onLost(error)
      lost = true
      return
    }
    told = Date.now()
    lost = false
    watch.onRevision(revision)
  }
}
