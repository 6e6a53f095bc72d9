/** How often resources are tested: without bounds a test scans the network that the server stands in. */
import { TooManyRequestsException } from '@fastify-modular/core'

const limits = {
  /** Tests of this instance at once; of one caller there is one. */
  atOnce: 4,
  /** Tests of a caller within so many milliseconds. */
  often: 10,
  window: 10 * 60_000,
  /** Seconds after which a test that runs has ended. */
  longest: 10,
}

export class ProbeLimits {
  /** When callers began their tests, in milliseconds since the process started; those of the last ten minutes. */
  readonly #begun = new Map<string, readonly number[]>()
  /** The callers of the tests that run. */
  readonly #running = new Map<AbortController, string>()

  /** Runs a test of a caller. @throws {TooManyRequestsException} there are too many */
  async run<T>(caller: string, test: (controller: AbortController) => Promise<T>): Promise<T> {
    this.#admit(caller)
    const controller = new AbortController()
    this.#running.set(controller, caller)
    try {
      return await test(controller)
    } finally {
      this.#running.delete(controller)
    }
  }

  /** Aborts the tests that run. */
  close(): void {
    for (const controller of this.#running.keys()) controller.abort(new Error('The application closes.'))
  }

  #admit(caller: string): void {
    const now = performance.now()
    for (const [id, times] of this.#begun) {
      const recent = times.filter((at) => now - at < limits.window)
      if (recent.length > 0) this.#begun.set(id, recent)
      else this.#begun.delete(id)
    }
    const running = [...this.#running.values()]
    if (running.includes(caller))
      throw new TooManyRequestsException(limits.longest, 'Your last test still runs.')
    if (running.length >= limits.atOnce)
      throw new TooManyRequestsException(limits.longest, 'Tests of other people run. Try again in a moment.')
    const mine = this.#begun.get(caller) ?? []
    const [oldest = now] = mine
    if (mine.length >= limits.often)
      throw new TooManyRequestsException(
        (oldest + limits.window - now) / 1000,
        'You have tested too often. Try again later.',
      )
    this.#begun.set(caller, [...mine, now])
  }
}
