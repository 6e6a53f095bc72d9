/** A client of a stream that comes back whenever it is cut, and what must be true of all that it sees. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { readStream, type StreamEvent, type StreamReader } from '../../support/reader.ts'
import { words } from './instance.js'

type Row = StreamEvent['data'][number]

export class Client {
  /** Undefined for strangers. */
  readonly caller: string | undefined
  readonly rows = new Map<string, Row>()
  /** Of the last event. */
  id = ''
  /** How many events came, and how many said that own values have changed. */
  readonly count = { events: 0, own: 0, snapshots: 0, streams: 0 }
  /** Whether a value was older than the one that it replaced, and not everything has come since: no client may end so. */
  wentBack = false
  readonly #port: () => number | undefined
  readonly #done: Promise<void>
  #stream: StreamReader | undefined
  #isStopping = false

  /** @param port of any instance that runs; undefined where none does */
  constructor(caller: string | undefined, port: () => number | undefined) {
    this.caller = caller
    this.#port = port
    this.#done = this.#read()
  }

  cut(): void {
    this.#stream?.close()
  }

  /** Rejects with what must not be, if it was seen. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.cut()
    await this.#done
  }

  /** Ends when something was seen that must not be: the clients are looked at while they run. */
  get isEnded(): Promise<void> {
    return this.#done
  }

  async #read(): Promise<void> {
    for (; !this.#isStopping; await sleep(5 + 20 * Math.random())) {
      const stream = await this.#open()
      if (!stream) continue
      this.count.streams++
      for (;;) {
        const event = await stream.next().catch(() => undefined) // it was cut
        if (!event) break
        this.#take(event)
      }
    }
  }

  async #open(): Promise<StreamReader | undefined> {
    const port = this.#port()
    if (port === undefined) return undefined
    const path = this.caller === undefined ? '/public/stream' : '/stream'
    const headers = {
      ...(this.caller !== undefined && { 'x-caller': this.caller }),
      ...(this.id && { 'last-event-id': this.id }),
    }
    this.#stream = await readStream(port, { path, headers }).catch(() => undefined)
    // Streams that were cut may still count: 429 until they do not.
    return this.#stream?.status === 200 ? this.#stream : undefined
  }

  #take({ id, event, data }: StreamEvent): void {
    this.count.events++
    if (event === 'own') this.count.own++
    if (id !== '') this.id = id
    const text = JSON.stringify(data)
    for (const word of [words.secret, words.own, ...(this.caller === undefined ? [words.shared] : [])])
      assert.ok(!text.includes(word), `${this.caller ?? 'a stranger'} sees ${text}`)
    if (event === 'snapshot') {
      this.count.snapshots++
      this.rows.clear()
      this.wentBack = false
    }
    for (const row of data) {
      const known = this.rows.get(row.key)?.['version']
      if (Number(row['version'] ?? 0) < Number(known ?? 0)) this.wentBack = true
      this.rows.set(row.key, row)
    }
  }
}
