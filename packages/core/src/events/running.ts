/** Keeps track of running handlers, so that closing can wait for them and then tell them to stop. */

export interface Running {
  /** How many handlers run now. */
  readonly size: number
  /** Fires when the application closes. */
  readonly signal: AbortSignal
  /** Follows one handler's promise, which must not reject. */
  track(settled: Promise<void>): void
  /** Waits up to `timeout` ms, then aborts the signal and gives handlers that heed it a moment to end. */
  close(timeout: number): Promise<void>
}

/** After the signal, handlers that heed it get this long (ms); the others cannot be stopped and are not waited for. */
const grace = 100

export function createRunning(): Running {
  const abort = new AbortController()
  const running = new Set<Promise<void>>()
  return {
    get size() {
      return running.size
    },
    signal: abort.signal,
    track(settled) {
      running.add(settled)
      void settled.then(() => running.delete(settled))
    },
    async close(timeout) {
      await within(timeout, running)
      abort.abort()
      await within(Math.min(timeout, grace), running)
    },
  }
}

async function within(timeout: number, running: ReadonlySet<Promise<void>>): Promise<void> {
  if (running.size === 0) return
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeout)
  })
  await Promise.race([Promise.all(running), late])
  clearTimeout(timer)
}
