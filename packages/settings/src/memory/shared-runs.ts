/** Runs a task for many callers at once. */

/** A task that runs once at a time. */
export interface SharedRuns {
  /** Resolves after a run that began with this call or later: who calls while one runs shares the next one. */
  run(): Promise<void>
  /** Lets none begin any more, and resolves when the one that runs has ended. */
  stop(): Promise<void>
}

/** @param task must not reject */
export function createSharedRuns(task: () => Promise<void>): SharedRuns {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  let isStopped = false

  function run(): Promise<void> {
    if (isStopped) return Promise.resolve()
    if (!running) {
      running = task().finally(() => {
        running = undefined
      })
      return running
    }
    // The one that runs may have looked already.
    next ??= running.then(() => {
      next = undefined
      return run()
    })
    return next
  }

  return {
    run,
    async stop() {
      isStopped = true
      await running
      await next
    },
  }
}
