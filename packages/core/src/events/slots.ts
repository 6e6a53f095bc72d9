/** The deliveries that run now. Each handler has slots of its own, so that a slow one never holds up another. */
import { setMaxListeners } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { withTimeout } from '../internal/timeout.ts'

/** Deliveries of one handler at once in a process, where the options say nothing else. */
export const defaultConcurrency = 10

/** Milliseconds that a transport waits for its handlers when the application closes, where the options say nothing else. */
export const defaultCloseTimeout = 5000

/** After the signal, handlers that obey it get this long (ms); the others cannot be stopped, and nothing waits for them. */
const grace = 100

export class Slots {
  readonly #perHandler: number
  readonly #abort = new AbortController()
  /** What the signal says; reading it there takes longer than handing an event over. */
  #isAborted = false
  #isClosing = false
  readonly #running = new Map<string, number>()
  /** A number and no list: a handler that never ends would be kept in it. */
  #unfinished = 0
  #onEnd = (): void => {}

  constructor(perHandler: number) {
    this.#perHandler = perHandler
    setMaxListeners(0, this.#abort.signal) // one for each delivery that runs
  }

  /** Whether `close` was called: handlers that run may end, up to its time-out. */
  get isClosing(): boolean {
    return this.#isClosing
  }

  /** Fires when the time-out of `close` has passed. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** How many further deliveries the handler may begin; none after the signal. */
  free(handler: string): number {
    return this.#isAborted ? 0 : this.#perHandler - (this.#running.get(handler) ?? 0)
  }

  /** Keeps a slot until the delivery settles, which must not reject; then calls `onFree`. */
  take(handler: string, delivery: Promise<void>, onFree: () => void): void {
    const count = (change: number) => this.#running.set(handler, (this.#running.get(handler) ?? 0) + change)
    count(1)
    this.waitFor(delivery, () => {
      count(-1)
      onFree()
    })
  }

  /** Has `close` wait for work that has no slot: a handler that goes on after the time-out of its attempt. */
  waitFor(work: Promise<unknown>, onEnd = () => {}): void {
    this.#unfinished++
    const end = () => {
      this.#unfinished--
      onEnd()
      this.#onEnd()
    }
    void work.then(end, end)
  }

  /**
   * Waits up to `timeout` ms until nothing runs, and nothing waits to run; then aborts the signal and gives handlers that
   * obey it a moment to end.
   */
  async close(timeout: number, isWaiting = () => false): Promise<void> {
    this.#isClosing = true
    await withTimeout(this.#idle(isWaiting), timeout, () => {})
    this.#isAborted = true
    this.#abort.abort()
    await withTimeout(this.#idle(), Math.min(timeout, grace), () => {})
  }

  /** Waits also for deliveries that begin when others end. */
  async #idle(isWaiting = () => false): Promise<void> {
    while (this.#unfinished > 0 || (isWaiting() && !this.#isAborted)) {
      if (this.#unfinished > 0) await new Promise<void>((resolve) => (this.#onEnd = resolve))
      await turn()
    }
  }
}
