/** The lock of a SQLite file that several processes use. */
import { sqliteCodeOf } from './node-sqlite.ts'

/** The part of a connection that the lock needs. */
interface Connection {
  pragma(source: string, options?: { simple?: boolean }): unknown
}

/** Milliseconds that a task waits for a lock that an earlier one did not get. */
const shortTimeout = 10

/**
 * The lock of a file that other processes use too. SQLite waits for it inside the process, which does nothing else
 * meanwhile. The first task that finds the file locked waits for the whole busy time-out of the connection. The tasks after
 * it wait for 10 ms, until one gets the lock to write.
 */
export class FileLock {
  readonly #database: Connection
  #isTaken = false

  constructor(database: Connection) {
    this.#database = database
  }

  /** Runs a task that takes the lock to write. */
  write<T>(task: () => T): T {
    const result = this.read(task)
    this.#isTaken = false
    return result
  }

  /** Runs a task that only reads; that it succeeds does not mean that the file can be written. */
  read<T>(task: () => T): T {
    try {
      return this.#isTaken ? withBusyTimeout(this.#database, shortTimeout, task) : task()
    } catch (error) {
      this.#isTaken = isBusy(error)
      throw error
    }
  }

  /** Lets the next task wait for the whole busy time-out again. */
  forget(): void {
    this.#isTaken = false
  }
}

/** Runs a task whose statements wait at most so many milliseconds for the lock of the file. */
function withBusyTimeout<T>(database: Connection, milliseconds: number, task: () => T): T {
  // Read each time: the connection may be the application's.
  const timeout = Number(database.pragma('busy_timeout', { simple: true }))
  database.pragma(`busy_timeout = ${Math.min(timeout, milliseconds)}`)
  try {
    return task()
  } finally {
    database.pragma(`busy_timeout = ${timeout}`)
  }
}

/** Whether a statement failed because another connection holds the lock of the file. */
function isBusy(error: unknown): boolean {
  return sqliteCodeOf(error).startsWith('SQLITE_BUSY')
}
