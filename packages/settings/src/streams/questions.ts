/** Asks the host whether callers of open streams are still signed in: by requests with what each of their sessions sent. */
import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Seconds between two questions about a caller. */
export const questionInterval = 60

/** Callers who are asked about at once, and seconds after which one without an answer makes room for others. */
const bounds = { atOnce: 256, patience: 10 }

/** A stream of a caller in a tenant, and the second of the last answer that it is still theirs: at first, of its beginning. */
interface Confirmed {
  readonly reply: FastifyReply
  readonly tenant: string | null | undefined
  confirmed: number
}

/** A caller with open streams, and when to ask about the caller. */
interface Asked<S> {
  readonly id: string
  readonly streams: ReadonlySet<S>
  /** By the clock of the streams, in seconds. */
  due: number
}

/** Whose stream goes on. */
interface About {
  readonly id: string
  readonly tenant: string | null | undefined
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

  /** Asks about those who are due, once a second. A caller without an answer is not asked about again. */
  ask(callers: Iterable<Asked<S>>, now: number): void {
    const waiting = [...this.#asked.values()].filter((since) => now - since < bounds.patience)
    let room = bounds.atOnce - waiting.length
    for (const caller of callers) {
      if (caller.due > now || this.#asked.has(caller)) continue
      if (room-- <= 0) return
      caller.due = now + questionInterval
      this.#asked.set(caller, now)
      void this.#ask(caller, now).finally(() => this.#asked.delete(caller))
    }
  }

  /** Never rejects. @param now when it asks: a late yes is as old as its question */
  async #ask({ id, streams }: Asked<S>, now: number): Promise<void> {
    const sessions = new Map([...streams].map((stream) => [sessionOf(stream), stream]))
    await Promise.all(
      [...sessions].map(async ([session, { reply, tenant }]) => {
        const isSame = await this.#isSame(reply.request, { id, tenant })
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
  async #isSame(request: FastifyRequest, about: About): Promise<boolean | undefined> {
    const { raw, originalUrl: url, host, server } = request
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

  #questionAbout({ id, tenant }: About): string {
    return `${this.#secret} ${encodeURIComponent(JSON.stringify([id, tenant]))}`
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
