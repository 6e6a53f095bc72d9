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

/** Listens until the returned function is called. */
export function listen(options: ListenerOptions): () => void {
  const closing = new AbortController()
  void keepListening(options, closing.signal)
  return () => closing.abort()
}

async function keepListening(options: ListenerOptions, closing: AbortSignal): Promise<void> {
  let pause = firstPause
  while (!closing.aborted) {
    try {
      await listenOn(await options.pool.connect(), options, closing, () => (pause = firstPause))
    } catch (error) {
      if (!closing.aborted) options.onLost(error)
    }
    await delay(pause, undefined, { signal: closing, ref: false }).catch(() => {})
    pause = Math.min(pause * 2, longestPause)
  }
}

/** Uses one connection to its end: rejects when it is lost, resolves when the listener closes. */
async function listenOn(
  connection: PgConnection,
  options: ListenerOptions,
  closing: AbortSignal,
  onListening: () => void,
): Promise<void> {
  const released = new AbortController()
  const { signal } = released
  try {
    if (closing.aborted) return
    await Promise.race([
      new Promise((resolve) => closing.addEventListener('abort', resolve, { signal })),
      new Promise((_resolve, reject) => {
        connection.on('error', reject)
        connection.on('end', () => reject(new Error('The connection that listens for events has ended.')))
      }),
      begin(),
    ])
  } finally {
    released.abort()
    connection.release(true)
  }

  /** Subscribes, then tests the connection again and again: a lost network path reports nothing by itself. */
  async function begin(): Promise<void> {
    const { channel, probe, onNotice } = options
    connection.on('notification', ({ payload = '' }) => onNotice(payload))
    await query(`LISTEN "${channel}"`)
    onListening()
    onNotice('') // for what was published while nothing listened
    while (!signal.aborted) {
      await delay(probe, undefined, { signal, ref: false })
      await query('SELECT 1')
    }
  }

  /** Rejects when the connection does not answer in time, or is released. */
  async function query(statement: string): Promise<void> {
    const late = () => {
      throw new Error(`The connection that listens for events did not answer within ${options.answer} ms.`)
    }
    // A released connection may never answer: the process does not wait for that.
    await withTimeout(connection.query(statement), options.answer, late, { ref: false })
  }
}
