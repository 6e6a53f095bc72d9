/**
 * One connection for all tabs of a browser: a Web Lock has one leader, which tells the others what arrives. Own values of
 * the caller are in no event, so that they are never told.
 */
import { type Connection, keepConnected, type LiveState, wait } from './connection.ts'
import type { StreamEvent } from './events.ts'
import type { Channel, Tabs } from './page.ts'

export interface SharedConnection extends Connection {
  /** Everything that is known, for a tab that joins; undefined while nothing is. */
  snapshot(): StreamEvent | undefined
}

interface Message {
  /** A tab joins, or has not heard of the leader for long. */
  readonly isQuestion?: true
  readonly state?: LiveState
  readonly event?: StreamEvent | undefined
  readonly isSignedOut?: true
}

/** Milliseconds that a leader has for the answer to a question, before another tab takes its place. */
const answerTime = 5000

/** @param name of caller and session: what one caller may see is told to no other */
export function shareConnection(
  { locks, open }: Tabs,
  name: string,
  connection: SharedConnection,
  signal: AbortSignal,
): void {
  const channel: Channel<Message> = open(name)
  let isLeader = false
  let state: LiveState = 'connecting'
  let watchdog: ReturnType<typeof setTimeout> | undefined
  signal.addEventListener('abort', () => {
    clearTimeout(watchdog)
    channel.close()
  })
  const tell = (message: Message): void => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel has one origin
    if (!signal.aborted) channel.postMessage(message)
  }

  const relay: Connection = {
    open: (until) => connection.open(until),
    poll: (until) => connection.poll(until),
    onEvent(event) {
      tell({ event })
      connection.onEvent(event)
    },
    onState(next) {
      state = next
      tell({ state })
      connection.onState(state)
    },
    onSignedOut() {
      tell({ isSignedOut: true })
      connection.onSignedOut()
    },
  }

  channel.addEventListener('message', ({ data }) => {
    if (data.isQuestion) {
      if (isLeader) tell({ state, event: connection.snapshot() })
      return
    }
    expectNews()
    if (data.event) connection.onEvent(data.event)
    if (data.state) connection.onState(data.state)
    if (data.isSignedOut) connection.onSignedOut()
  })
  expectNews()
  tell({ isQuestion: true })
  void follow()

  /** Leads when all earlier ones are gone, and again after another tab took its place. */
  async function follow(): Promise<void> {
    while (!signal.aborted) await lead({ signal })
  }

  async function lead(how: { readonly signal: AbortSignal } | { readonly steal: true }): Promise<void> {
    const lost = new AbortController()
    const both = AbortSignal.any([signal, lost.signal])
    await locks
      .request(name, how, async () => {
        isLeader = true
        clearTimeout(watchdog)
        await keepConnected(relay, both)
      })
      .catch(() => {}) // the lock was taken away, or nobody waits for it any more
    lost.abort()
    isLeader = false
    expectNews()
  }

  /** A leader whose page is frozen keeps its lock, and says nothing. */
  function expectNews(): void {
    clearTimeout(watchdog)
    if (isLeader || signal.aborted) return
    watchdog = setTimeout(() => {
      tell({ isQuestion: true })
      watchdog = setTimeout(() => void lead({ steal: true }), answerTime * (1 + Math.random() / 5))
    }, wait.silence - answerTime)
  }
}
