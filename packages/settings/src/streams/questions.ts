/**
 * Asks the host whether open streams still have the same caller and tenant: by requests with what each of their sessions sent.
 */
import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Seconds between two questions about a caller. */
export const questionInterval = 60

/** Owners who are asked about at once, and seconds after which one without an answer makes room for others. */
const bounds = { atOnce: 256, patience: 10 }

/** Whose stream it is. */
export interface About {
  /** Null: not signed in. */
  readonly callerId: string | null
  /** The tenant of the request: null without one, undefined without the option `tenants`. */
  readonly tenant: string | null | undefined
}

/** A stream, and the second of the last answer that its caller and tenant are the same: at first, of its beginning. */
interface Confirmed extends About {
  readonly reply: FastifyReply
  confirmed: number
}

/** Streams of one caller, or of one address, and when to ask about them. */
interface Asked<S> {
  readonly streams: ReadonlySet<S>
  /** By the clock of the streams, in seconds. */
  due: number
}

const header = 'x-settings-stream-question'

export class Questions<S extends Confirmed> {
  /** Nobody else can ask. */
  readonly #secret = randomBytes(16).toString('hex')
  /** Those who are asked about, with the second of the question. */
  readonly #asked = new Map<Asked<S>, number>()
  readonly #end: (stream: S) => void

  constructor(end: (stream: S) => void) {
    this.#end = end
  }

  /**
   * Answers a request that is a question, without the hooks of an answer, which would prolong the session. Those of a refusal
   * run: it ends the streams, so that there is no other one.
   */
  answer({ headers }: FastifyRequest, reply: FastifyReply, about: About): boolean {
    const question = String(headers[header])
    if (!question.startsWith(this.#secret)) return false
    reply.hijack()
    reply.raw.writeHead(question === this.#questionAbout(about) ? 204 : 401).end()
    return true
  }

  /** Asks about those who are due, once a second. One without an answer is not asked about again. */
  ask(owners: Iterable<Asked<S>>, now: number): void {
    const waiting = [...this.#asked.values()].filter((since) => now - since < bounds.patience)
    let room = bounds.atOnce - waiting.length
    for (const owner of owners) {
      if (owner.due > now || this.#asked.has(owner)) continue
      if (room-- <= 0) return
      owner.due = now + questionInterval
      this.#asked.set(owner, now)
      void this.#ask(owner, now).finally(() => this.#asked.delete(owner))
    }
  }

  /** Never rejects. @param now when it asks: a late yes is as old as its question */
  async #ask({ streams }: Asked<S>, now: number): Promise<void> {
    const sessions = new Map([...streams].map((stream) => [sessionOf(stream), stream]))
    await Promise.all(
      [...sessions].map(async ([session, asked]) => {
        const isSame = await this.#isSame(asked)
        if (isSame === undefined) return
        for (const stream of streams) {
          if (sessionOf(stream) !== session) continue
          if (isSame) stream.confirmed = Math.max(stream.confirmed, now)
          else this.#end(stream)
        }
      }),
    )
  }

  /** Undefined where nobody says so: a failure does not mean that somebody has signed out, nor does 429. */
  async #isSame({ reply, ...about }: Confirmed): Promise<boolean | undefined> {
    const { raw, originalUrl: url, host, server } = reply.request
    const sent = Object.fromEntries(Object.entries(raw.headers).filter(([name]) => !name.startsWith(':')))
    const headers = { ...sent, host, [header]: this.#questionAbout(about) }
    // Not `request.ip`: where that is no trusted proxy, hooks would not see the protocol of the visitor.
    const remoteAddress = raw.socket.remoteAddress ?? ''
    try {
      const { statusCode } = await server.inject({ url, headers, remoteAddress })
      return statusCode === 429 || statusCode >= 500 ? undefined : statusCode === 204
    } catch {
      return undefined
    }
  }

  #questionAbout({ callerId, tenant }: About): string {
    return `${this.#secret} ${encodeURIComponent(JSON.stringify([callerId, tenant]))}`
  }
}

/**
 * What the caller may be known by: any header, as keys have their own. Two pages of one browser differ in these two. The tenant
 * may be known by the address, and of one session by when the stream began.
 */
function sessionOf({ reply: { request }, tenant }: Confirmed): string {
  const { 'last-event-id': _id, referer: _page, ...sent } = request.headers
  return JSON.stringify([sent, request.originalUrl, tenant])
}
