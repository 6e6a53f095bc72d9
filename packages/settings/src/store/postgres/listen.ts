/** Listens for commits of other instances, over a connection of its own that is made again whenever it is lost. */
import { setTimeout as sleep } from 'node:timers/promises'
import { within } from '@fastify-modular/core/internal/postgres'
import type { Client } from 'pg'

/** What the listener needs, and what it calls. */
export interface ListenOptions {
  /** Makes a connection, not connected yet. */
  readonly createClient: () => Client
  /** Called with each client that has connected. */
  readonly prepare: (client: Client) => Promise<void>
  readonly channel: string
  /** A hint is given after so many milliseconds, with or without a notification. */
  readonly pollInterval: number
  /** Milliseconds between two tests whether the connection still answers, and how long the answer may take. */
  readonly probe: number
  readonly answer: number
  /** How many milliseconds stopping may take. */
  readonly close: number
  /** Receives the revision of a notification; without one it is time to check. */
  readonly onHint: (revision?: number) => void
  readonly onLost: (error: unknown) => void
}

/** Milliseconds between two attempts to connect: doubled from the first to the last. */
const backOff = { first: 100, last: 5000 }

/** Listens until the returned function is called. Resolves after the first attempt, whether or not it succeeded. */
export async function listen(options: ListenOptions): Promise<() => Promise<void>> {
  const stop = new AbortController()
  let isLost = false
  let endFirstAttempt = (): void => {}
  const firstAttempt = new Promise<void>((resolve) => (endFirstAttempt = resolve))
  const ended = keepListening()
  await firstAttempt
  return async () => {
    stop.abort()
    await within(options.close, ended)
  }

  async function keepListening(): Promise<void> {
    for (let delay = backOff.first; !stop.signal.aborted; delay = Math.min(delay * 2, backOff.last)) {
      try {
        await listenOnce(options, stop.signal, () => {
          isLost = false
          delay = backOff.first
          endFirstAttempt()
        })
      } catch (error) {
        if (!isLost && !stop.signal.aborted) options.onLost(error)
        isLost = true
      }
      endFirstAttempt()
      // Instances that lost the same server come back at different moments.
      await sleep(delay * (0.5 + Math.random()), undefined, { signal: stop.signal }).catch(() => {})
    }
  }
}

/** One connection, from its start to its end. Rejects when it is lost, resolves when it is stopped. */
async function listenOnce(
  options: ListenOptions,
  signal: AbortSignal,
  onListening: () => void,
): Promise<void> {
  const client = options.createClient()
  let stop = (): void => {}
  let lose = (_error: unknown): void => {}
  const end = new Promise<void>((resolve, reject) => {
    lose = reject
    client.on('error', reject)
    client.on('end', () => reject(new Error('The connection that listens for changes has ended.')))
    stop = () => resolve(close(client))
  })
  end.catch(() => {}) // awaited below, but it may fail before that
  signal.addEventListener('abort', stop)
  const timers: NodeJS.Timeout[] = []
  let isProbing = false
  /** Skips a probe while one is under way: probes must not pile up on a slow database. */
  function probe(): void {
    if (isProbing) return
    isProbing = true
    test(client, options.answer)
      .catch(lose)
      .finally(() => (isProbing = false))
  }
  async function begin(): Promise<void> {
    await client.connect()
    await options.prepare(client)
    client.on('notification', ({ payload }) => options.onHint(Number(payload)))
    await client.query(`listen "${options.channel}"`)
  }
  try {
    // connect() of a client that is ended meanwhile never settles.
    await Promise.race([begin(), end])
    if (signal.aborted) return
    onListening()
    options.onHint() // something may have been committed while the connection was lost
    timers.push(
      setInterval(probe, options.probe),
      setInterval(() => options.onHint(), options.pollInterval),
    )
    await end
  } finally {
    for (const timer of timers) clearInterval(timer)
    signal.removeEventListener('abort', stop)
    await close(client)
  }
}

/** A network that lost the connection does not report it. */
async function test(client: Client, answer: number): Promise<void> {
  const late = sleep(answer, undefined, { ref: false }).then(() => {
    throw new Error(`The connection that listens for changes did not answer within ${answer} ms.`)
  })
  await Promise.race([client.query('select 1'), late])
}

/** At most a second: a server that is gone does not end the connection. */
async function close(client: Client): Promise<void> {
  await within(1000, client.end())
  client.connection.stream.destroy()
}
