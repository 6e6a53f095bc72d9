/** Hears what other instances commit, over one connection of its own that is made again whenever it is lost. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'

/** What the listener needs, and whom it tells. */
export interface ListenOptions {
  /** Makes a connection, not connected yet. */
  readonly createClient: () => Client
  readonly channel: string
  /** A hint is given after so many milliseconds, whether or not something was heard. */
  readonly pollInterval: number
  /** Gets the revision of a notification; without one it is time to look. */
  readonly onHint: (revision?: number) => void
  readonly onLost: (error: unknown) => void
}

/** Milliseconds between two attempts to connect: doubled from the first to the last. */
const backOff = { first: 100, last: 5000 }

/** Listens until the returned function is called. Resolves after the first attempt, whether or not it succeeded. */
export async function listen(options: ListenOptions): Promise<() => Promise<void>> {
  const stop = new AbortController()
  let isLost = false
  let tried = (): void => {}
  const firstAttempt = new Promise<void>((resolve) => (tried = resolve))
  const ended = keepListening()
  await firstAttempt
  return async () => {
    stop.abort()
    await ended
  }

  async function keepListening(): Promise<void> {
    for (let delay = backOff.first; !stop.signal.aborted; delay = Math.min(delay * 2, backOff.last)) {
      try {
        await listenOnce(options, stop.signal, () => {
          isLost = false
          delay = backOff.first
          tried()
        })
      } catch (error) {
        if (!isLost && !stop.signal.aborted) options.onLost(error)
        isLost = true
      }
      tried()
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
  const end = new Promise<void>((resolve, reject) => {
    client.on('error', reject)
    client.on('end', () => reject(new Error('The connection that listens for changes has ended.')))
    stop = () => resolve(close(client))
  })
  end.catch(() => {}) // awaited below, but it may fail before that
  signal.addEventListener('abort', stop)
  let timer: NodeJS.Timeout | undefined
  try {
    await client.connect()
    client.on('notification', ({ payload }) => options.onHint(Number(payload)))
    await client.query(`listen "${options.channel}"`)
    onListening()
    options.onHint() // something may have been committed while nobody listened
    timer = setInterval(
      oneAtATime(() => poll(client, options)),
      options.pollInterval,
    )
    await end
  } finally {
    clearInterval(timer)
    signal.removeEventListener('abort', stop)
    await close(client)
  }
}

/** Leaves calls out while one is under way: a slow database must not be asked ever more often. */
function oneAtATime(task: () => Promise<void>): () => void {
  let isRunning = false
  return () => {
    if (isRunning) return
    isRunning = true
    void task().finally(() => (isRunning = false))
  }
}

/** Gives a hint, and finds out whether the connection is dead without knowing it. */
async function poll(client: Client, options: ListenOptions): Promise<void> {
  try {
    await client.query('select 1')
    options.onHint()
  } catch {
    await close(client) // its end is noticed, and a new connection is made
  }
}

/** At most a second: a server that is gone does not say good-bye. */
async function close(client: Client): Promise<void> {
  await Promise.race([client.end(), sleep(1000, undefined, { ref: false })]).catch(() => {})
}
