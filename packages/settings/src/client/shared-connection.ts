/**
 * One connection for all tabs of a browser: a Web Lock has one leader, which tells the others what arrives. Own values of
 * the caller are in no event, so that they are never told.
 */
import { type Connection, keepConnected, type News, wait } from './connection.ts'
import type { StreamEvent } from './events.ts'
import type { Channel, Tabs } from './page.ts'

/** What the leader tells, or what another tab wants of it. */
interface Message extends News {
  /** The leader that tells. */
  readonly from?: string
  /** It has just begun: what an earlier one tells does not count any more. */
  readonly isNew?: true
  /** `news`: a tab does not know what is known. `look`: it has written something. */
  readonly wanted?: 'news' | 'look'
}

/** Milliseconds that a leader has for the answer to a question, before another tab takes its place. */
const answerTime = 5000

/**
 * @param name of caller and session: what one caller may see is told to no other
 * @param snapshot everything that is known, for a tab that joins
 */
export function shareConnection(
  { locks, open }: Tabs,
  name: string,
  connection: Connection,
  snapshot: () => StreamEvent | undefined,
  signal: AbortSignal,
): void {
  const channel: Channel<Message> = open(name)
  const own = String(Math.random())
  let isLeader = false
  /** The one that is heard; a leader hears itself alone. */
  let leader: string | undefined
  let state: News['state']
  let watchdog: ReturnType<typeof setTimeout> | undefined
  signal.addEventListener('abort', () => {
    clearTimeout(watchdog)
    channel.close()
  })
  const tell = (message: Message): void => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel has one origin
    if (!signal.aborted) channel.postMessage(message)
  }
  const ask = (): void => {
    leader = undefined
    tell({ wanted: 'news' })
  }

  const relay: Connection = {
    open: (until) => connection.open(until),
    poll: (until) => connection.poll(until),
    take(news) {
      state = news.state ?? state
      tell({ from: own, ...news })
      connection.take(news)
    },
    wakes: connection.wakes,
  }

  channel.addEventListener('message', ({ data: { from, isNew, wanted, ...news } }) => {
    if (wanted === 'news' && isLeader) tell({ from: own, state, event: snapshot() })
    if (wanted === 'look' && isLeader) connection.wakes.dispatchEvent(new Event('look'))
    if (wanted) return
    if (isNew) leader = from
    leader ??= from
    if (leader !== from) return
    expectNews()
    connection.take(news)
  })
  connection.wakes.addEventListener('look', () => !isLeader && tell({ wanted: 'look' }), { signal })
  expectNews()
  ask()
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
        leader = own
        clearTimeout(watchdog)
        tell({ from: own, isNew: true })
        await keepConnected(relay, both)
      })
      .catch(() => {}) // the lock was taken away, or nobody waits for it any more
    lost.abort()
    isLeader = false
    expectNews()
    ask() // what a page read while it was frozen is old
  }

  /** A leader whose page is frozen keeps its lock, and says nothing. */
  function expectNews(): void {
    clearTimeout(watchdog)
    if (isLeader || signal.aborted) return
    watchdog = setTimeout(() => {
      ask()
      watchdog = setTimeout(() => void lead({ steal: true }), answerTime * (1 + Math.random() / 5))
    }, wait.silence - answerTime)
  }
}
