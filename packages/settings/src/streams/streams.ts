/**
 * The open streams of this instance, and what is written to them: everything that changed in one turn of the event loop
 * is encoded once for each audience and is one write to each socket.
 */
import timers from 'node:timers/promises'
import { ServiceUnavailableException, TooManyRequestsException } from '@fastify-modular/core'
import { withTimeout } from '@fastify-modular/core/internal'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SettingState, SharedChange } from '../memory/shared-values.ts'
import type { ChangedOwners } from '../memory/owned-values.ts'
import type { Parts } from '../parts.ts'
import { SettingScope } from '../setting-definition.ts'
import { ownerHash } from '../store/store.ts'
import { Audience, idAlone } from './audience.ts'
import { CatchUp, type Opening, Openings } from './catch-up.ts'
import { networkOf } from './network.ts'
import { type About, questionInterval, Questions } from './questions.ts'
import { openEvent, overEvent, writeHead } from './response.ts'

/** How many streams there may be, how much of one may wait in this process, and how long one may take to end. */
const bounds = {
  /** Of one caller; one more ends the oldest. */
  ofCaller: 8,
  signedIn: 8000,
  anonymous: 2000,
  /** Anonymous ones; an IPv6 network of 64 bits is one address. */
  ofAddress: 32,
  /** Bytes. */
  unsent: 64 * 1024,
  /** Sockets that are written to before other requests have their turn: about 2 ms. */
  atOnce: 256,
  /** Milliseconds that streams have to end when the application closes. */
  farewell: 500,
}

/** Seconds between two signs of life on a stream, and for which one goes on while nobody says that its caller is signed in. */
const longest = { silence: 25, doubt: 300 }

/** A caller with open streams, the oldest first, or the address of strangers, or a tenant. */
interface Owner {
  readonly streams: Set<Stream>
  /** When the host is asked again about them, in seconds of the clock of the streams. */
  due: number
  /** When the last stream has ended. */
  forget(): void
}

/** Where bytes go: on HTTP/1 the socket itself, which costs two thirds of `response.write` in chunks. */
type Sink = Pick<FastifyReply['raw'], 'write' | 'writableLength' | 'cork' | 'uncork'>

interface Stream extends About {
  readonly audience: Audience
  /** All streams of that tenant. */
  readonly members: Owner | undefined
  readonly reply: FastifyReply
  readonly sink: Sink
  readonly owner: Owner
  /** When the caller, and the tenant, were last known to be the same, in seconds of the clock of the streams. */
  confirmed: number
  /** Bytes that may wait: one event may be long. */
  mayWait: number
  /** Bytes that waited at the last beat. */
  waited: number
}

/** Whose values have changed. */
type OwnChange = 'user' | 'tenant'

/** What has to be written. */
interface Due {
  readonly keys: Set<string>
  /** Streams whose readers' own values have changed, or those of their tenant. */
  readonly own: Map<Stream, OwnChange>
  /** Everything was read again. */
  isEverything: boolean
  /** Other changes wait to be kept than before. */
  isOpened: boolean
  isBeat: boolean
}

type StreamsInit = Pick<Parts, 'changes' | 'sharedValues' | 'coherence' | 'states' | 'log'>

export class Streams {
  readonly #init: StreamsInit
  readonly #open = new Set<Stream>()
  /** By the names that notifications give them. */
  readonly #callers = new Map<string, Owner>()
  /** Streams of members and strangers, by the names that notifications give their tenants. */
  readonly #tenants = new Map<string, Owner>()
  readonly #addresses = new Map<string, Owner>()
  readonly #questions = new Questions<Stream>((stream) => this.#end(stream))
  readonly #audiences
  readonly #closing = new AbortController()
  readonly catchUp: CatchUp
  readonly #openings = new Openings()
  /** Undefined where there is nothing to write. */
  #due: Due | undefined
  #isWriting = false
  /** Whether a change waits to be kept. */
  #isAnyOpen = false
  #seconds = 0
  #clock: NodeJS.Timeout | undefined

  constructor(init: StreamsInit) {
    this.#init = init
    this.catchUp = new CatchUp(init, this.#closing.signal)
    this.#audiences = { signedIn: new Audience(init.states, true), public: new Audience(init.states, false) }
    init.changes.follow({
      shared: (change) => this.#sharedChanged(change),
      opened: (isAny) => this.#opened(isAny),
      owned: (changed) => this.#ownersChanged(changed),
    })
  }

  /**
   * Answers with a stream, or where the request is a question of this instance, whether its caller and tenant are still the
   * same.
   * @throws {TooManyRequestsException} the address has too many streams
   * @throws {ServiceUnavailableException} the instance has, or it is closing
   */
  answer(request: FastifyRequest, reply: FastifyReply, { callerId, findTenant }: Reader): Promise<void> {
    return this.#openings.during(callerId, async (opening) => {
      const tenant = await findTenant()
      if (this.#questions.answer(request, reply, { callerId, tenant })) return
      this.#refuse(reply, callerId)
      await this.catchUp.reach(request, callerId)
      // From here on in one step: what changes later finds the stream.
      if (request.raw.socket.destroyed) reply.hijack()
      else this.#begin(reply, tenant, opening)
    })
  }

  /** A client whose stream ends comes back, and says who it is then. */
  #begin(reply: FastifyReply, tenant: Stream['tenant'], { callerId, isEnded }: Opening): void {
    this.#refuse(reply, callerId)
    const audience = callerId === null ? this.#audiences.public : this.#audiences.signedIn
    const known = reply.request.headers['last-event-id']
    const shown = audience.first(this.#init.sharedValues.revision, known)
    const first = this.#isAnyOpen && callerId !== null ? Buffer.concat([shown, openEvent]) : shown
    writeHead(reply)
    try {
      const stream = this.#add({ reply, audience, callerId, tenant })
      if (isEnded) return this.#end(stream)
      this.#send(stream, first, callerId !== null || tenant !== undefined ? 'first' : undefined)
    } catch (err) {
      this.#init.log.error({ err }, 'stream of settings failed')
      reply.raw.destroy()
    }
  }

  /** Ends all streams of a caller. */
  endStreams(callerId: string): void {
    this.#openings.end(callerId)
    for (const stream of this.#callers.get(hashOf(callerId))?.streams ?? []) this.#end(stream)
  }

  /** Ends all streams. Resolves within a second. */
  async close(): Promise<void> {
    this.#closing.abort()
    const closed = [...this.#open].map((stream) => {
      const closing = new Promise((resolve) => stream.reply.raw.once('close', resolve))
      this.#end(stream, 'retry: 1000\n\n')
      return closing
    })
    await withTimeout(Promise.all(closed), 2 * bounds.farewell, () => {})
  }

  #sharedChanged({ keys, kind }: SharedChange): void {
    const states = this.#statesOf(keys)
    for (const audience of Object.values(this.#audiences)) audience.take(states)
    if (this.#open.size === 0) return
    if (kind === 'locks') this.#ownChanged(this.#callers, undefined, 'user') // locked values win over those of users
    const due = this.#write()
    due.isEverything ||= kind === 'everything'
    for (const key of keys) due.keys.add(key)
  }

  #opened(isAny: boolean): void {
    this.#isAnyOpen = isAny
    if (this.#callers.size === 0) return
    this.#write().isOpened = true
  }

  #statesOf(keys: Iterable<string>): readonly SettingState[] {
    return [...keys].flatMap((key) => this.#init.sharedValues.find(key) ?? [])
  }

  #ownersChanged({ owners, hashes }: ChangedOwners): void {
    if (this.#callers.size + this.#tenants.size === 0) return
    const names = hashes ?? owners?.map((owner) => ownerHash(owner))
    // Who has to read at once does not wait for what the tenant has changed: the later one counts.
    this.#ownChanged(this.#tenants, names, 'tenant')
    this.#ownChanged(this.#callers, names, 'user')
  }

  /** @param names of whom something has changed; undefined for all */
  #ownChanged(owners: Map<string, Owner>, names: Iterable<string> | undefined, what: OwnChange): void {
    const { own } = this.#write()
    for (const name of names ?? owners.keys())
      for (const stream of owners.get(name)?.streams ?? []) own.set(stream, what)
  }

  #refuse(reply: FastifyReply, callerId: string | null): void {
    if (this.#closing.signal.aborted) {
      reply.header('connection', 'close') // a connection that is kept would keep the server open
      throw new ServiceUnavailableException('The application is closing.', 1)
    }
    const { ip } = reply.request
    const anonymous = [...this.#addresses.values()].reduce((sum, { streams }) => sum + streams.size, 0)
    const [count, most] =
      callerId === null ? [anonymous, bounds.anonymous] : [this.#open.size - anonymous, bounds.signedIn]
    if (callerId === null && (this.#addresses.get(networkOf(ip))?.streams.size ?? 0) >= bounds.ofAddress)
      throw new TooManyRequestsException(60, 'Too many streams of settings from this address.')
    if (count >= most) throw new ServiceUnavailableException('Too many streams of settings are open.', 30)
  }

  #add({ reply, audience, callerId, tenant }: About & Pick<Stream, 'reply' | 'audience'>): Stream {
    const { request, raw } = reply
    const owner =
      callerId === null
        ? this.#ownerOf(this.#addresses, networkOf(request.ip))
        : this.#ownerOf(this.#callers, hashOf(callerId))
    const [oldest] = owner.streams
    if (oldest && callerId !== null && owner.streams.size >= bounds.ofCaller) this.#end(oldest, overEvent)
    const { socket, httpVersionMajor } = request.raw
    const isDirect = raw.socket !== null && raw.socket === socket && httpVersionMajor < 2
    const name = tenant && ownerHash({ scope: SettingScope.Tenant, id: tenant })
    const members = name ? this.#ownerOf(this.#tenants, name) : undefined
    const stream: Stream = {
      audience,
      callerId,
      tenant,
      members,
      reply,
      sink: isDirect ? socket : raw,
      owner,
      confirmed: this.#seconds,
      mayWait: bounds.unsent,
      waited: 0,
    }
    this.#open.add(stream)
    owner.streams.add(stream)
    members?.streams.add(stream)
    raw.once('close', () => this.#forget(stream))
    // A response that waits for another one on its connection is never closed. As many may wait as there may be streams.
    if (raw.socket === null) socket.setMaxListeners(0).once('close', () => this.#forget(stream))
    this.#clock ??= setInterval(() => this.#tick(), 1000).unref()
    return stream
  }

  #ownerOf(owners: Map<string, Owner>, name: string): Owner {
    const known = owners.get(name)
    if (known) return known
    const forget = () => void owners.delete(name)
    const owner = { streams: new Set<Stream>(), due: this.#seconds + questionInterval, forget }
    owners.set(name, owner)
    return owner
  }

  #forget(stream: Stream): void {
    if (!this.#open.delete(stream)) return
    for (const group of [stream.owner, stream.members]) {
      group?.streams.delete(stream)
      if (group?.streams.size === 0) group.forget()
    }
    if (this.#open.size > 0) return
    clearInterval(this.#clock)
    this.#clock = undefined
    this.#due = undefined
  }

  #end(stream: Stream, last?: string): void {
    if (!this.#open.has(stream)) return
    if (last !== undefined) stream.sink.write(last)
    this.#forget(stream)
    const { raw } = stream.reply
    raw.end()
    setTimeout(() => raw.destroy(), bounds.farewell).unref() // a client that does not read would keep the socket
  }

  #cut(stream: Stream): void {
    this.#forget(stream)
    stream.reply.raw.destroy()
  }

  #tick(): void {
    this.#seconds++
    if (this.#seconds % longest.silence === 0) this.#write().isBeat = true
    for (const { streams } of this.#callers.values())
      for (const stream of streams)
        if (this.#seconds - stream.confirmed > longest.doubt) this.#end(stream, overEvent)
    // What strangers are shown depends on nothing but their tenant.
    const strangers = [...this.#addresses.values()].filter(
      ({ streams: [first] }) => first?.tenant !== undefined,
    )
    this.#questions.ask([...this.#callers.values(), ...strangers], this.#seconds)
  }

  /** Returns what is written later in this turn, or after what is being written. */
  #write(): Due {
    this.#due ??= { keys: new Set(), own: new Map(), isEverything: false, isOpened: false, isBeat: false }
    if (this.#isWriting) return this.#due
    this.#isWriting = true
    setImmediate(() => {
      this.#writeAll().catch((err: unknown) =>
        this.#init.log.error({ err }, 'streams of settings could not be written'),
      )
    })
    return this.#due
  }

  async #writeAll(): Promise<void> {
    try {
      while (this.#due) {
        const due = this.#due
        this.#due = undefined
        await this.#writeOnce(due)
      }
    } finally {
      this.#isWriting = false // at once: what is due from here on begins to write again
    }
  }

  async #writeOnce(due: Due): Promise<void> {
    if (due.isBeat) for (const stream of this.#open) if (this.#isStuck(stream)) this.#cut(stream)
    const bytes = this.#encode(due)
    let written = 0
    // A copy: a stream that opens meanwhile begins with what is newer.
    for (const stream of bytes.size > 0 ? [...this.#open] : due.own.keys()) {
      if (this.#open.has(stream)) this.#send(stream, bytes.get(stream.audience), due.own.get(stream))
      if (++written % bounds.atOnce === 0) await timers.setImmediate()
    }
  }

  /** The bytes for each audience that sees some of it. */
  #encode({ keys, isEverything, isOpened, isBeat }: Due): Map<Audience, Buffer> {
    const { revision } = this.#init.sharedValues
    const states = this.#statesOf(keys)
    const bytes = new Map<Audience, Buffer>()
    for (const audience of Object.values(this.#audiences)) {
      const shown = isEverything ? audience.snapshot(revision) : audience.change(revision, states)
      const opened = isOpened && audience === this.#audiences.signedIn ? openEvent : Buffer.alloc(0)
      if (shown ?? (isBeat || opened.length > 0))
        bytes.set(audience, Buffer.concat([shown ?? idAlone(audience.id(revision)), opened]))
    }
    return bytes
  }

  /** Whether nothing was taken of what has waited since the last beat. */
  #isStuck(stream: Stream): boolean {
    const waits = stream.sink.writableLength
    const isStuck = stream.waited > 0 && waits >= stream.waited
    stream.waited = waits
    if (waits === 0) stream.mayWait = bounds.unsent
    return isStuck
  }

  #send(stream: Stream, bytes: Buffer | undefined, own: 'first' | OwnChange | undefined): void {
    const { sink, mayWait } = stream
    if (sink.writableLength > mayWait) return this.#cut(stream)
    if (bytes && bytes.length > bounds.unsent) stream.mayWait = bounds.unsent + bytes.length
    if (own) sink.cork() // one write, without a copy of everything for each reader
    // A reader who knew another caller, or another tenant, forgets first what was known there.
    if (own) sink.write(this.#ownEvent(stream, own === 'first' ? undefined : own))
    if (bytes) sink.write(bytes)
    if (own) sink.uncork()
  }

  #ownEvent({ callerId, tenant }: Stream, changed: OwnChange | undefined): string {
    return `event: own\ndata: ${JSON.stringify({ caller: callerId, tenant, changed })}\n\n`
  }
}

/** The name that notifications give a caller as the owner of values. */
function hashOf(callerId: string): string {
  return ownerHash({ scope: SettingScope.User, id: callerId })
}

/** Who reads a stream. */
export interface Reader {
  /** Null: not signed in. */
  readonly callerId: string | null
  /** Asks the host for the tenant of the request. */
  readonly findTenant: () => Stream['tenant'] | Promise<Stream['tenant']>
}
