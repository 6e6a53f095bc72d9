/** How long a process stands still for the lock of the file. */
import type { Database } from 'better-sqlite3'

/** Runs what takes the lock of the file. */
export type WithLock = <T>(task: () => T) => T

/** Milliseconds that a task waits for a lock that the one before did not get. */
const shortTimeout = 10

/**
 * SQLite waits inside the process, which does nothing else meanwhile. The first task that meets a locked file waits for
 * the whole time-out of the connection; those after it give up after some milliseconds until one gets the lock.
 */
export function createWithLock(client: Database): WithLock {
  let isLocked = false

  function run<T>(task: () => T): T {
    try {
      const result = task()
      isLocked = false
      return result
    } catch (error) {
      isLocked = error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')
      throw error
    }
  }

  return (task) => {
    if (!isLocked) return run(task)
    // Read each time: the connection may be the application's.
    const timeout = Number(client.pragma('busy_timeout', { simple: true }))
    client.pragma(`busy_timeout = ${Math.min(timeout, shortTimeout)}`)
    try {
      return run(task)
    } finally {
      client.pragma(`busy_timeout = ${timeout}`)
    }
  }
}
