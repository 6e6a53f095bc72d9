/** Listens for commits of publishers on one connection of the pool, which is replaced whenever it is lost. */
import { setTimeout as delay } from 'node:timers/promises'
import { withTimeout } from '../../internal/timeout.ts'
import type { PgConnection, PgPool } from './database.ts'

export interface ListenerOptions {
  readonly pool: PgPool
  readonly channel: string
  /** Milliseconds between two tests whether the connection still answers. */
  readonly probe: number
  /** Milliseconds that an answer may take. */
  readonly answer: number
  /** Called with the payload of each notification, and with '' when listening begins. */
  readonly onNotice: (payload: string) => void
  /** Called when the connection is lost. That costs latency only, because the dispatcher polls besides. */
  readonly onLost: (error: unknown) => void
}

const firstPause = 100
const longestPause = 5000

export class Listener {
  readonly #options: ListenerOptions
  readonly #closing = new AbortController()
  #pause = firstPause

  constructor(options: ListenerOptions) {
    this.#options = options
  }

  start(): void {
    void this.#run()
  }

  close(): void {
    this.#closing.abort()
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      try {
        await this.#listenOn(await this.#options.pool.connect())
      } catch (error) {
        if (!signal.aborted) this.#options.onLost(error)
      }
      await delay(this.#pause, undefined, { signal, ref: false }).catch(() => {})
      this.#pause = Math.min(this.#pause * 2, longestPause)
    }
  }

  /** Uses one connection to its end: rejects when it is lost, resolves when the listener closes. */
  async #listenOn(connection: PgConnection): Promise<void> {
    const { signal } = this.#closing
    const released = new AbortController()
    let stop = (): void => {}
    try {
      await new Promise<void>((resolve, reject) => {
        stop = resolve
        if (signal.aborted) return resolve()
        signal.addEventListener('abort', stop)
        connection.on('error', reject)
        connection.on('end', () => reject(new Error('The connection that listens for events has ended.')))
        this.#keepListening(connection, released.signal).catch(reject)
      })
    } finally {
      released.abort()
      signal.removeEventListener('abort', stop)
      connection.release(true)
    }
  }

  /** Subscribes, then tests the connection again and again: a lost network path reports nothing by itself. */
  async #keepListening(connection: PgConnection, released: AbortSignal): Promise<void> {
    const { channel, probe, onNotice } = this.#options
    connection.on('notification', ({ payload = '' }) => onNotice(payload))
    await this.#query(connection, `LISTEN "${channel}"`)
    this.#pause = firstPause
    onNotice('') // for what was published while nothing listened
    while (!released.aborted) {
      await delay(probe, undefined, { signal: released, ref: false })
      await this.#query(connection, 'SELECT 1')
    }
  }

  /** Rejects when the connection does not answer in time, or is released. */
  async #query(connection: PgConnection, statement: string): Promise<void> {
    const { answer } = this.#options
    await withTimeout(connection.query(statement), answer, () => {
      throw new Error(`The connection that listens for events did not answer within ${answer} ms.`)
    })
  }
}
