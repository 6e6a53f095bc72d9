/** Listens for notifications of PostgreSQL on one connection, which is replaced whenever it is lost. */
import { setTimeout as delay } from 'node:timers/promises'
import { withTimeout } from './timeout.ts'

interface Notice {
  readonly channel: string
  readonly payload?: string | undefined
}

/** The part of a client of pg that is needed here. */
export interface ListeningConnection {
  query(sql: string): Promise<unknown>
  on(event: 'notification', listener: (notice: Notice) => void): unknown
  on(event: 'error' | 'end', listener: (error: Error) => void): unknown
}

export interface ListenerOptions<C extends ListeningConnection> {
  readonly channels: readonly string[]
  /** Opens a connection. It gives up when the signal fires. */
  readonly connect: (signal: AbortSignal) => Promise<C>
  /** Ends a connection, which may be in any state. */
  readonly disconnect: (connection: C) => void | Promise<void>
  /** Milliseconds between two tests whether the connection still answers. */
  readonly probe: number
  /** Milliseconds that an answer may take. */
  readonly answer: number
  /** Called whenever a connection has begun to listen: something may have been published before. */
  readonly onListening: () => void
  readonly onNotice: (payload: string, channel: string) => void
  /** Called once until a connection listens again. That costs latency only, because the caller polls besides. */
  readonly onLost: (error: unknown) => void
}

const firstPause = 100
const longestPause = 5000

/** Listens until the returned function is called, which resolves when the last connection has ended. */
export function listen<C extends ListeningConnection>(options: ListenerOptions<C>): () => Promise<void> {
  const closing = new AbortController()
  const ended = keepListening(options, closing.signal)
  return () => {
    closing.abort()
    return ended
  }
}

async function keepListening<C extends ListeningConnection>(
  options: ListenerOptions<C>,
  closing: AbortSignal,
): Promise<void> {
  let pause = firstPause
  let isLost = false
  function onListening(): void {
    pause = firstPause
    isLost = false
    options.onListening()
  }
  while (!closing.aborted) {
    try {
      await listenOn(await options.connect(closing), { ...options, onListening }, closing)
    } catch (error) {
      if (!isLost && !closing.aborted) options.onLost(error)
      isLost = true
    }
    // Instances that lost the same server come back at different moments.
    await delay(pause * (0.5 + Math.random()), undefined, { signal: closing, ref: false }).catch(() => {})
    pause = Math.min(pause * 2, longestPause)
  }
}

/** Uses one connection to its end: rejects when it is lost, resolves when the listener closes. */
async function listenOn<C extends ListeningConnection>(
  connection: C,
  { channels, disconnect, probe, answer, onListening, onNotice }: ListenerOptions<C>,
  closing: AbortSignal,
): Promise<void> {
  const ended = new AbortController()
  const { signal } = ended
  try {
    if (closing.aborted) return
    await Promise.race([
      new Promise((resolve) => closing.addEventListener('abort', resolve, { signal })),
      new Promise((_resolve, reject) => {
        connection.on('error', reject)
        connection.on('end', () => reject(new Error('The connection that listens has ended.')))
      }),
      begin(),
    ])
  } finally {
    ended.abort()
    await disconnect(connection)
  }

  /** Subscribes, then tests the connection again and again: a lost network path reports nothing by itself. */
  async function begin(): Promise<void> {
    connection.on('notification', ({ channel, payload = '' }) => onNotice(payload, channel))
    await query(channels.map((channel) => `LISTEN "${channel}"`).join('; '))
    onListening()
    while (!signal.aborted) {
      await delay(probe, undefined, { signal, ref: false })
      await query('SELECT 1')
    }
  }

  /** Rejects when the connection does not answer in time, or is ended. */
  async function query(statement: string): Promise<void> {
    const late = () => {
      throw new Error(`The connection that listens did not answer within ${answer} ms.`)
    }
    // A connection that was ended may never answer: the process does not wait for that.
    await withTimeout(connection.query(statement), answer, late, { ref: false })
  }
}
