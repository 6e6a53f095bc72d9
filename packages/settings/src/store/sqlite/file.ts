/** The file of an open connection: whether its path still leads to it, and how to let go of it when it does not. */
import { statSync, unlinkSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Database } from 'better-sqlite3'

export interface OpenedFile {
  /** Device and inode; empty for a database in memory. */
  readonly id: string
  /**
   * Whether the path leads to another file, or to none: what is written goes on into a file that nobody will find.
   * SQLite itself does not notice. Costs about ten microseconds.
   */
  isReplaced(): boolean
  /**
   * Whether another connection may open the path now. What the log of the old file still holds is moved into the old
   * file and its log is removed: with it SQLite would damage the file that lies there now.
   */
  letGo(): boolean
}

/** Looks at the file that a connection has just opened. */
export function lookAtFile(client: Database): OpenedFile {
  const path = client.memory ? '' : resolve(client.name)
  const idOf = (suffix = ''): string => idOfFile(path + suffix)
  if (path === '' || idOf() === '') return { id: '', isReplaced: () => false, letGo: () => false }
  const id = idOf()
  const logs = ['-wal', '-shm'].map((suffix) => [suffix, idOf(suffix)] as const)
  return {
    id,
    isReplaced: () => idOf() !== id,
    letGo() {
      // A file of no bytes is one that is about to be copied there.
      if (!statSync(path, { throwIfNoEntry: false })?.size) return false
      if (!emptyLog(client)) return false
      for (const [suffix, old] of logs) if (old !== '' && idOf(suffix) === old) unlinkSync(path + suffix)
      return true
    },
  }
}

function idOfFile(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stat ? `${stat.dev}:${stat.ino}` : ''
}

/** Moves what is in the write-ahead log into the database file. False while another connection prevents it. */
function emptyLog(client: Database): boolean {
  const timeout = Number(client.pragma('busy_timeout', { simple: true }))
  client.pragma('busy_timeout = 0')
  try {
    return client.pragma('wal_checkpoint(truncate)', { simple: true }) === 0
  } finally {
    client.pragma(`busy_timeout = ${timeout}`)
  }
}

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
