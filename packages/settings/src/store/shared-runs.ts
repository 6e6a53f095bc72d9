/** A task that runs once at a time, for many callers. */
export class SharedRuns {
  readonly #task: () => Promise<void>
  #current: Promise<void> = Promise.resolve()
  #next: Promise<void> | undefined
  #isStopped = false

  /** `task` must not reject. */
  constructor(task: () => Promise<void>) {
    this.#task = task
  }

  /** Starts no further run once it is true. */
  get isStopped(): boolean {
    return this.#isStopped
  }

  /** Resolves after the run that has begun, if there is one. */
  get current(): Promise<void> {
    return this.#current
  }

  /** Resolves after a run that began with this call or later: calls during a run share the next one. */
  run(): Promise<void> {
    // The current run may have read the database already.
    this.#next ??= this.#current.then(() => {
      this.#next = undefined
      if (!this.#isStopped) this.#current = this.#task()
      return this.#current
    })
    return this.#next
  }

  /** Starts no further run, and resolves when the current one has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#next
    await this.#current
  }
}
