/**
 * One connection for all tabs of a browser: a Web Lock has one leader, which tells the others what arrives. Own values of
 * the caller are in no event, so that they are never told.
 */
import { type Connection, keepConnected, type News, wait } from './connection.ts'
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

/** One of the tabs. */
export class SharingTab {
  readonly #tabs: Tabs
  readonly #name: string
  readonly #connection: Connection
  readonly #signal: AbortSignal
  readonly #channel: Channel<Message>
  readonly #id = String(Math.random())
  #isLeader = false
  /** Whose news count; those of others are old. */
  #leader: string | undefined
  #state: News['state']
  #watchdog: ReturnType<typeof setTimeout> | undefined

  /** @param name of caller and session: what one caller may see is told to no other */
  constructor(tabs: Tabs, name: string, connection: Connection, signal: AbortSignal) {
    this.#tabs = tabs
    this.#name = name
    this.#connection = connection
    this.#signal = signal
    this.#channel = tabs.open(name)
  }

  /** Leads when all earlier ones are gone, and again after another tab took its place. Resolves when the signal aborts. */
  async join(): Promise<void> {
    const signal = this.#signal
    signal.addEventListener('abort', () => {
      clearTimeout(this.#watchdog)
      this.#channel.close()
    })
    this.#channel.addEventListener('message', ({ data }) => this.#hear(data))
    const askToLook = () => !this.#isLeader && this.#tell({ wanted: 'look' })
    this.#connection.wakes.addEventListener('look', askToLook, { signal })
    this.#expectNews()
    this.#ask()
    while (!signal.aborted) await this.#lead({ signal })
  }

  #tell(message: Message): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel has one origin
    if (!this.#signal.aborted) this.#channel.postMessage(message)
  }

  #ask(): void {
    this.#leader = undefined
    this.#tell({ wanted: 'news' })
  }

  #hear({ from, isNew, wanted, ...news }: Message): void {
    if (wanted) return this.#isLeader ? this.#answer(wanted) : undefined
    if (isNew) this.#leader = from
    this.#leader ??= from
    if (this.#leader !== from) return
    this.#expectNews()
    this.#connection.take(news)
  }

  #answer(wanted: NonNullable<Message['wanted']>): void {
    if (wanted === 'look') this.#connection.wakes.dispatchEvent(new Event('look'))
    else this.#tell({ from: this.#id, state: this.#state, event: this.#connection.snapshot() })
  }

  async #lead(how: { readonly signal: AbortSignal } | { readonly steal: true }): Promise<void> {
    const lost = new AbortController()
    const both = AbortSignal.any([this.#signal, lost.signal])
    await this.#tabs.locks
      .request(this.#name, how, async () => {
        this.#isLeader = true
        this.#leader = this.#id
        clearTimeout(this.#watchdog)
        this.#tell({ from: this.#id, isNew: true })
        await keepConnected({
          connection: this.#connection,
          take: (news) => this.#passOn(news),
          signal: both,
        })
      })
      .catch(() => {}) // the lock was taken away, or nobody waits for it any more
    lost.abort()
    this.#isLeader = false
    this.#expectNews()
    this.#ask() // what the page reads when it wakes may be old
  }

  #passOn(news: News): void {
    this.#state = news.state ?? this.#state
    this.#tell({ from: this.#id, ...news })
    this.#connection.take(news)
  }

  /** A leader whose page is frozen keeps its lock, and says nothing. */
  #expectNews(): void {
    clearTimeout(this.#watchdog)
    if (this.#isLeader || this.#signal.aborted) return
    this.#watchdog = setTimeout(() => {
      this.#ask()
      const patience = answerTime * (1 + Math.random() / 5)
      this.#watchdog = setTimeout(() => void this.#lead({ steal: true }), patience)
    }, wait.silence - answerTime)
  }
}
