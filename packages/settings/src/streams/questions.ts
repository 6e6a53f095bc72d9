/** Asks the host whether callers of open streams are still signed in: by requests with what each of their sessions sent. */
import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Seconds between two questions about a caller. */
export const questionInterval = 60

/** Callers who are asked about at once, and seconds after which one without an answer makes room for others. */
const bounds = { atOnce: 256, patience: 10 }

/** A stream of a caller, and the second of the last answer that it is still theirs: at first, of its beginning. */
interface Confirmed {
  readonly reply: FastifyReply
  confirmed: number
}

/** A caller with open streams, and when to ask about the caller. */
interface Asked<S> {
  readonly id: string
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
  answer({ headers }: FastifyRequest, reply: FastifyReply, callerId: string): boolean {
    const question = String(headers[header])
    if (!question.startsWith(this.#secret)) return false
    reply.hijack()
    reply.raw.writeHead(question === this.#questionAbout(callerId) ? 204 : 401).end()
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
    const sessions = new Map([...streams].map(({ reply: { request } }) => [sessionOf(request), request]))
    await Promise.all(
      [...sessions].map(async ([session, request]) => {
        const isSame = await this.#isSame(request, id)
        if (isSame === undefined) return
        for (const stream of streams) {
          if (sessionOf(stream.reply.request) !== session) continue
          if (isSame) stream.confirmed = Math.max(stream.confirmed, now)
          else this.#end(stream)
        }
      }),
    )
  }

  /** Undefined where nobody says so: a failure does not mean that somebody has signed out, nor does 429. */
  async #isSame(request: FastifyRequest, callerId: string): Promise<boolean | undefined> {
    const { raw, originalUrl: url, host, server } = request
    const sent = Object.fromEntries(Object.entries(raw.headers).filter(([name]) => !name.startsWith(':')))
    const headers = { ...sent, host, [header]: this.#questionAbout(callerId) }
    // Not `request.ip`: where that is no trusted proxy, hooks would not see the protocol of the visitor.
    const remoteAddress = raw.socket.remoteAddress ?? ''
    try {
      const { statusCode } = await server.inject({ url, headers, remoteAddress })
      return statusCode === 429 || statusCode >= 500 ? undefined : statusCode === 204
    } catch {
      return undefined
    }
  }

  #questionAbout(callerId: string): string {
    return `${this.#secret} ${encodeURIComponent(callerId)}`
  }
}

/** What the caller may be known by: any header, as keys have their own. Two pages of one browser differ in these two. */
function sessionOf({ headers: { 'last-event-id': _id, referer: _page, ...sent } }: FastifyRequest): string {
  return JSON.stringify(sent)
}
