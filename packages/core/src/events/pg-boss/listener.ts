/** Listens for commits of publishers on one connection of the pool, which is replaced whenever it is lost. */
import { setTimeout as delay } from 'node:timers/promises'
import type { PgConnection, PgPool } from './boss.ts'

export interface ListenOptions {
  readonly pool: PgPool
  readonly channel: string
  /** Milliseconds between two tests whether the connection still answers, and how long the answer may take. */
  readonly probe: number
  readonly answer: number
  /** Called at each commit that published, and when listening begins. */
  readonly onNotice: () => void
  /** Called when the connection is lost. It costs latency only, because workers poll besides. */
  readonly onLost: (error: unknown) => void
}

export interface Listener {
  close(): void
}

const firstPause = 100
const longestPause = 5000

export function listen(options: ListenOptions): Listener {
  const stop = new AbortController()
  void keepListening(options, stop.signal)
  return { close: () => stop.abort() }
}

async function keepListening(options: ListenOptions, signal: AbortSignal): Promise<void> {
  for (let pause = firstPause; !signal.aborted; pause = Math.min(pause * 2, longestPause)) {
    try {
      const connection = await options.pool.connect()
      await listenOn(connection, options, signal, () => (pause = firstPause))
    } catch (error) {
      if (!signal.aborted) options.onLost(error)
    }
    await delay(pause, undefined, { signal, ref: false }).catch(() => {})
  }
}

/** From the start of one connection to its end: rejects when it is lost, resolves when listening is to stop. */
async function listenOn(
  connection: PgConnection,
  { channel, probe, answer, onNotice }: ListenOptions,
  signal: AbortSignal,
  onListening: () => void,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  let isOver = signal.aborted
  let stop = (): void => {}
  try {
    await new Promise<void>((resolve, reject) => {
      stop = resolve
      if (isOver) return resolve()
      signal.addEventListener('abort', stop)
      connection.on('notification', onNotice)
      connection.on('error', reject)
      connection.on('end', () => reject(new Error('The connection that listens for events has ended.')))

      /** A lost path reports nothing by itself. */
      async function test(statement: string): Promise<void> {
        timer = setTimeout(
          () =>
            reject(new Error(`The connection that listens for events did not answer within ${answer} ms.`)),
          answer,
        )
        await connection.query(statement)
        if (isOver) return
        clearTimeout(timer)
        timer = setTimeout(() => void test('SELECT 1').catch(reject), probe)
        timer.unref()
      }
      async function begin(): Promise<void> {
        await test(`LISTEN "${channel}"`)
        onListening()
        onNotice() // what was published while nobody listened
      }
      begin().catch(reject)
    })
  } finally {
    isOver = true
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    connection.release(true)
  }
}
