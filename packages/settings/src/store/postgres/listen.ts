/**
 * Announces commits to other instances, and listens for theirs over a connection of its own, which is made again
 * whenever it is lost. `NOTIFY` is never part of the write: it makes all commits of a database take turns.
 */
import { listen as keepListening, within } from '@fastify-modular/core/internal/postgres'
import type { Client, Pool } from 'pg'
import { ownerOf } from '../plan-write.ts'
import { parseRevision, type Revision, revisionId } from '../revision.ts'
import { type Owner, ownerHash, type StoreWatch, type WriteResult } from '../store.ts'
import type { Connections } from './connection.ts'
import type { PostgresNames } from './names.ts'

/** More owners are not named, and instances forget all: the names of so many fit into one notification of 8,000 bytes. */
const mostOwners = 600

interface AnnouncerInit {
  readonly pool: Pick<Pool, 'query'>
  readonly names: PostgresNames
  /** Marks the notifications of this instance, which knows what it wrote. */
  readonly instance: string
  /** Milliseconds for which changes of owners are gathered. */
  readonly window: number
}

/** Announces what this instance wrote: revisions at once, owners gathered. A notification that is lost is made up for by polling. */
export class Announcer {
  readonly #init: AnnouncerInit
  /** By their hashes. */
  readonly #owners = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #sending: Promise<unknown> = Promise.resolve()
  #revision: Revision | undefined

  constructor(init: AnnouncerInit) {
    this.#init = init
  }

  add({ revision, token, changes }: WriteResult): void {
    if (token !== '') {
      if (revision > (this.#revision?.revision ?? 0)) this.#revision = { revision, token }
      void this.flush()
      return
    }
    for (const owner of changes.flatMap((change) => ownerOf(change) ?? [])) this.addOwner(owner)
  }

  addOwner(owner: Owner): void {
    this.#owners.add(ownerHash(owner))
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
    const notices: [channel: string, payload: string][] = []
    if (this.#owners.size > 0) notices.push([names.ownerChannel, payloadOf(this.#owners, instance)])
    this.#owners.clear()
    if (this.#revision) notices.push([names.channel, `${instance} ${revisionId(this.#revision)}`])
    this.#revision = undefined
    if (notices.length === 0) return
    await pool.query(
      'select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) as n (channel, payload)',
      [notices.map(([channel]) => channel), notices.map(([, payload]) => payload)],
    )
  }
}

/** The instance, then hashes of owners; the instance alone stands for all owners. */
export function payloadOf(hashes: ReadonlySet<string>, instance: string): string {
  return hashes.size > mostOwners ? instance : [instance, ...hashes].join(' ')
}

/** What the listener needs, and what it calls. */
export interface ListenOptions {
  readonly connections: Pick<Connections, 'createClient' | 'prepare' | 'timeouts'>
  readonly names: PostgresNames
  /** The mark of the notifications of this instance. */
  readonly instance: string
  /** A hint is given after so many milliseconds, with or without a notification. */
  readonly pollInterval: number
  readonly watch: StoreWatch
}

/**
 * Listens until the returned function is called, and gives hints at intervals whether or not it can. Resolves after the
 * first attempt, whether or not it succeeded.
 */
export async function listen(options: ListenOptions): Promise<() => Promise<void>> {
  const { connections, names, instance, watch } = options
  const { timeouts } = connections
  const poll = setInterval(() => watch.onHint(), options.pollInterval)
  let stop = async (): Promise<void> => {}
  await new Promise<void>((endFirstAttempt) => {
    stop = keepListening({
      channels: [names.channel, names.ownerChannel],
      connect: (signal) => connect(connections, signal),
      disconnect,
      probe: timeouts.probe,
      answer: timeouts.connect,
      onListening() {
        endFirstAttempt()
        watch.onHint() // something may have been committed while the connection was lost
      },
      onNotice(payload, channel) {
        const [writer, ...news] = payload.split(' ')
        if (writer === instance) return
        if (channel === names.channel) watch.onHint(parseRevision(news[0]))
        else watch.onOwners(news.length === 0 ? undefined : news)
      },
      onLost(error) {
        endFirstAttempt()
        watch.onLost(error)
      },
    })
  })
  return async () => {
    clearInterval(poll)
    await within(timeouts.close, stop())
  }
}

async function connect(
  { createClient, prepare }: ListenOptions['connections'],
  signal: AbortSignal,
): Promise<Client> {
  const client = createClient()
  client.on('error', () => {}) // lost before anything listens for that, it would end the process
  const giveUp = () => client.connection.stream.destroy()
  signal.addEventListener('abort', giveUp)
  try {
    await client.connect()
    await prepare(client)
    return client
  } catch (error) {
    await disconnect(client)
    throw error
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

/** Takes at most a second: a server that is gone does not end the connection. */
async function disconnect(client: Client): Promise<void> {
  await within(1000, client.end())
  client.connection.stream.destroy()
}
