/** Lets one task run at a time, the others wait in line. */
import { ServiceUnavailableException } from '@fastify-modular/core'

/**
 * Writers of one process wait here and not in the database: there each of them would hold a connection of the pool,
 * and readers would find none.
 */
export class WriteQueue {
  readonly #limit: number
  readonly #line: (() => void)[] = []
  #isTaken = false

  /** `limit` is how long a task waits for its turn, in milliseconds. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Runs the task when it is its turn. @throws {ServiceUnavailableException} its turn does not come in time */
  async take<T>(task: () => Promise<T>): Promise<T> {
    if (this.#isTaken) await this.#wait()
    this.#isTaken = true
    try {
      return await task()
    } finally {
      const next = this.#line.shift()
      if (next) next()
      else this.#isTaken = false
    }
  }

  #wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#line.splice(this.#line.indexOf(go), 1)
        reject(new ServiceUnavailableException('Too many writes wait for the settings database.', 1))
      }, this.#limit)
      const go = (): void => {
        clearTimeout(timer)
        resolve()
      }
      this.#line.push(go)
    })
  }
}
