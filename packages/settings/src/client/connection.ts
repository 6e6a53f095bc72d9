/** Keeps a stream of settings open through failures, and polls where none is to be had. */
import { SettingsRequestError } from './request.ts'
import { readEvents, type StreamEvent } from './events.ts'
import { onPage } from './page.ts'

/**
 * `live`: changes arrive as they happen. `polling`: no stream is to be had, and values are read about once a minute.
 * `offline`: the server does not answer, or the caller is not signed in any more.
 */
export type LiveState = 'connecting' | 'live' | 'polling' | 'offline'

/** What is to be kept up to date, and how its server is reached. */
export interface Connection {
  open(signal: AbortSignal): Promise<Response>
  /** Takes everything without a stream. */
  poll(signal: AbortSignal): Promise<void>
  /** Takes an event of the stream; the next one waits for what it returns. */
  take(event: StreamEvent, signal: AbortSignal): Promise<void> | undefined
  /** Called with how events come from now on. */
  onState(state: LiveState | 'signed out'): void
  /** Has the event `look` when a wait for the next attempt is to end. */
  readonly wakes: EventTarget
}

/** Milliseconds. The server gives a sign of life every 25 s. */
export const wait = { first: 1000, last: 30_000, poll: 60_000, silence: 40_000 }

/** Resolves when the signal aborts, or when the caller is not signed in any more. */
export async function keepConnected(connection: Connection, signal: AbortSignal): Promise<void> {
  let failures = 0
  while (!signal.aborted) {
    const end = await connect(connection, signal, failures).catch(endOf)
    if (signal.aborted) return
    if (end === 'signed out') return connection.onState(end)
    if (end === 'failed') connection.onState('offline')
    const backoff = Math.min(wait.first * 2 ** failures, wait.last)
    if (end === 'failed') failures++
    else if (end === 'ended') failures = 0
    // All pages lost the same server, and come back at different moments.
    await pause((typeof end === 'number' ? end : backoff) * (0.5 + Math.random()), signal, connection.wakes)
  }
}

/**
 * Reads one stream to its end. Returns the milliseconds until the next one where values were polled.
 * @throws {Error} the server does not answer, or the caller is not signed in
 */
async function connect(
  connection: Connection,
  signal: AbortSignal,
  failures: number,
): Promise<number | 'ended'> {
  const ended = new AbortController()
  let watchdog: ReturnType<typeof setTimeout> | undefined
  const postpone = (): void => {
    clearTimeout(watchdog)
    watchdog = setTimeout(() => ended.abort(), wait.silence)
  }
  try {
    postpone()
    const response = await connection.open(AbortSignal.any([signal, ended.signal]))
    signal.throwIfAborted()
    // A redirect may have led to a page that asks who is there.
    const isStream = response.ok && response.headers.get('content-type')?.startsWith('text/event-stream')
    if (!isStream || !response.body) {
      await response.body?.cancel()
      const { status } = response
      // An instance that closes answers 503, too: the next one may have a stream.
      if (isRefusal(status) || (status >= 500 && failures === 0)) throw new SettingsRequestError(status, {})
      await connection.poll(signal)
      const after = 1000 * Number(response.headers.get('retry-after'))
      return after >= wait.first && after < wait.poll ? after : wait.poll
    }
    connection.onState('live')
    let isOver = false
    await readEvents(response.body, postpone, (event) => {
      isOver ||= event.event === 'over'
      const taken = connection.take(event, signal)
      connection.onState('live')
      return taken
    })
    if (!isOver) return 'ended'
    await connection.poll(signal)
    return wait.poll
  } finally {
    clearTimeout(watchdog)
    ended.abort() // where an event could not be taken, the stream is still open
  }
}

function isRefusal(status: number): boolean {
  return status === 401 || status === 403
}

/** How an attempt ended that threw. */
function endOf(error: unknown): 'signed out' | 'failed' {
  return error instanceof SettingsRequestError && isRefusal(error.status) ? 'signed out' : 'failed'
}

/** Resolves after a time, when the signal aborts, when somebody looks, or when the browser has a network again. */
export function pause(milliseconds: number, signal: AbortSignal, wakes?: EventTarget): Promise<void> {
  return new Promise((resolve) => {
    const ended = new AbortController()
    const end = (): void => {
      clearTimeout(timer)
      ended.abort()
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    onPage('online', end, ended.signal)
    wakes?.addEventListener('look', end, { signal: ended.signal })
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { signal: ended.signal })
  })
}
