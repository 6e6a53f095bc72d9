/**
 * Announces commits to other instances, and listens for theirs over a connection of its own, which is made again
 * whenever it is lost. `NOTIFY` is never part of the write: it makes all commits of a database take turns.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { within } from '@fastify-modular/core/internal/postgres'
import type { Client, Pool } from 'pg'
import { SettingScope } from '../../setting-definition.ts'
import { parseRevision, type Revision, revisionId } from '../revision.ts'
import { type StoreWatch, userHash, type WriteResult } from '../store.ts'
import type { PostgresNames } from './names.ts'

/** From so many users on, instances forget all users at once. */
const manyUsers = 1000

/** Bytes of one notification; PostgreSQL takes less than 8,000. */
const payloadBytes = 7900

interface AnnouncerInit {
  readonly pool: Pick<Pool, 'query'>
  readonly names: PostgresNames
  /** Marks the notifications of this instance, which knows what it wrote. */
  readonly instance: string
  /** Milliseconds for which users' changes are gathered. */
  readonly window: number
}

/** Announces what this instance wrote: revisions at once, users gathered. A notification that is lost is made up for by polling. */
export class Announcer {
  readonly #init: AnnouncerInit
  readonly #users = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #sending: Promise<unknown> = Promise.resolve()
  #revision: Revision | undefined

  constructor(init: AnnouncerInit) {
    this.#init = init
  }

  add({ revision, token, changes }: WriteResult): void {
    if (changes.some(({ scope }) => scope !== SettingScope.User)) {
      if (revision > (this.#revision?.revision ?? 0)) this.#revision = { revision, token }
      void this.flush()
      return
    }
    for (const { userId } of changes) this.addUser(userId)
  }

  addUser(userId: string): void {
    this.#users.add(userId)
    this.#timer ??= setTimeout(() => void this.flush(), this.#init.window)
  }

  /** Sends what has been gathered, after what is being sent. Never rejects. */
  flush(): Promise<unknown> {
    this.#sending = this.#sending.then(() => this.#send()).catch(() => {})
    return this.#sending
  }

  async #send(): Promise<void> {
    const { pool, names, instance } = this.#init
    clearTimeout(this.#timer)
    this.#timer = undefined
    const notices = payloadsOf(this.#users, instance).map((payload) => [names.userChannel, payload] as const)
    this.#users.clear()
    if (this.#revision !== undefined)
      notices.push([names.channel, `${instance} ${revisionId(this.#revision)}`])
    this.#revision = undefined
    if (notices.length === 0) return
    await pool.query(
      'select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) as n (channel, payload)',
      [notices.map(([channel]) => channel), notices.map(([, payload]) => payload)],
    )
  }
}

/** The instance, then hashes of users; the instance alone stands for all users. */
export function payloadsOf(users: ReadonlySet<string>, instance: string): string[] {
  if (users.size === 0) return []
  if (users.size > manyUsers) return [instance]
  const payloads: string[] = []
  for (const userId of users) {
    const hash = userHash(userId)
    const last = payloads.at(-1)
    if (last !== undefined && last.length + 1 + hash.length <= payloadBytes)
      payloads[payloads.length - 1] = `${last} ${hash}`
    else payloads.push(`${instance} ${hash}`)
  }
  return payloads
}

/** What the listener needs, and what it calls. */
export interface ListenOptions {
  /** Makes a connection, not connected yet. */
  readonly createClient: () => Client
  /** Called with each client that has connected. */
  readonly prepare: (client: Client) => Promise<void>
  readonly names: PostgresNames
  /** The mark of the notifications of this instance. */
  readonly instance: string
  /** A hint is given after so many milliseconds, with or without a notification. */
  readonly pollInterval: number
  /** Milliseconds between two tests whether the connection still answers, and how long the answer may take. */
  readonly probe: number
  readonly answer: number
  /** How many milliseconds stopping may take. */
  readonly close: number
  readonly watch: StoreWatch
}

/** Milliseconds between two attempts to connect: doubled from the first to the last. */
const backOff = { first: 100, last: 5000 }

/**
 * Listens until the returned function is called, and gives hints at intervals whether or not it can. Resolves after the
 * first attempt, whether or not it succeeded.
 */
export async function listen(options: ListenOptions): Promise<() => Promise<void>> {
  const stop = new AbortController()
  const poll = setInterval(() => options.watch.onHint(), options.pollInterval)
  let isLost = false
  let endFirstAttempt = (): void => {}
  const firstAttempt = new Promise<void>((resolve) => (endFirstAttempt = resolve))
  const ended = keepListening()
  await firstAttempt
  return async () => {
    clearInterval(poll)
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
        if (!isLost && !stop.signal.aborted) options.watch.onLost(error)
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
  const { names, instance, watch } = options
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
  let probing: NodeJS.Timeout | undefined
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
    client.on('notification', ({ channel, payload = '' }) => {
      const [writer, ...news] = payload.split(' ')
      if (writer === instance) return
      if (channel === names.channel) watch.onHint(parseRevision(news[0]))
      else watch.onUsers(news.length === 0 ? undefined : news)
    })
    await client.query(`listen "${names.channel}"; listen "${names.userChannel}"`)
  }
  try {
    // connect() of a client that is ended meanwhile never settles.
    await Promise.race([begin(), end])
    if (signal.aborted) return
    onListening()
    watch.onHint() // something may have been committed while the connection was lost
    probing = setInterval(probe, options.probe)
    await end
  } finally {
    clearInterval(probing)
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
