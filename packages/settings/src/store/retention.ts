/** Bounds the history, so that it does not grow without end. */
import { setImmediate } from 'node:timers/promises'
import { withTimeout } from '@fastify-modular/core/internal'
import type { FastifyBaseLogger } from 'fastify'
import { SharedRuns } from './shared-runs.ts'
import { rowIdText } from './plan-write.ts'
import type { StorePort, WriteResult } from './store.ts'

const day = 24 * 60 * 60 * 1000
const hour = 60 * 60 * 1000

/** Milliseconds after the boot, at least: a start has enough to do, and instances of one deployment take turns. */
const afterBoot = 5 * 60_000

/** Values whose writes are counted; more of them begin a run. */
const capacity = 10_000

interface RetentionInit {
  readonly store: Pick<StorePort, 'trim'>
  readonly days?: number | undefined
  readonly perValue?: number | undefined
  readonly log: FastifyBaseLogger
  /** Milliseconds until the first run. @default five to ten minutes */
  readonly delay?: number
  /** Milliseconds that stopping waits for the portion that runs. @default five seconds */
  readonly patience?: number
}

/**
 * Removes old history: once an hour, and as soon as this process has written one value `perValue` times since the last
 * run; portion by portion, of all instances one at a time. The timers do not keep the process alive.
 */
export class Retention {
  readonly #init: RetentionInit
  readonly #days: number
  readonly #perValue: number
  /** Writes by value since the last run. */
  readonly #writes = new Map<string, number>()
  /** What is written during a run may need another one. */
  readonly #runs = new SharedRuns(() => this.#trim())
  #timer: NodeJS.Timeout | undefined

  constructor(init: RetentionInit) {
    this.#init = init
    this.#days = init.days ?? 400
    this.#perValue = init.perValue ?? 100
  }

  start(): void {
    this.#wait(this.#init.delay ?? afterBoot * (1 + Math.random()))
  }

  /** Resolves after the portion that runs, unless the store does not answer in time. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    await withTimeout(this.#runs.stop(), this.#init.patience ?? 5000, () => {})
  }

  /** Counts a write. */
  wrote({ changes }: WriteResult): void {
    for (const change of changes) {
      const name = rowIdText(change)
      const writes = (this.#writes.get(name) ?? 0) + 1
      this.#writes.set(name, writes)
      if (writes >= this.#perValue || this.#writes.size > capacity) this.#run()
    }
  }

  #wait(milliseconds: number): void {
    this.#timer = setTimeout(() => {
      this.#run()
      this.#wait(hour)
    }, milliseconds).unref()
  }

  #run(): void {
    this.#writes.clear()
    void this.#runs.run()
  }

  async #trim(): Promise<void> {
    const { store, log } = this.#init
    const limits = { olderThan: Math.max(0, Date.now() - this.#days * day), perValue: this.#perValue }
    let rows = 0
    try {
      for (let isDone = false; !isDone && !this.#runs.isStopped; await setImmediate()) {
        const taken = await store.trim(limits)
        rows += taken.removed
        isDone = taken.isDone
      }
    } catch (err) {
      log.warn({ err }, 'old settings history could not be removed; the next run tries again')
    }
    if (rows > 0) log.info({ rows }, 'old settings history was removed')
  }
}
