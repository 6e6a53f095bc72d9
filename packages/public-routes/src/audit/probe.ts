/** Sends requests through the real router that stop at the gate, to see what it would decide without running a handler. */
import { IncomingMessage, ServerResponse, type IncomingHttpHeaders } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** The request as the gate saw it, or the status with which somebody answered before; 0 for no answer at all. */
export type ProbeOutcome =
  | { readonly reached: true; readonly request: FastifyRequest }
  | { readonly reached: false; readonly status: number }

/** How long an earlier hook may take, in milliseconds. */
const patience = 5000

export class Probes {
  readonly #app: FastifyInstance
  readonly #waiting = new Map<IncomingMessage, (request: FastifyRequest) => void>()

  constructor(app: FastifyInstance) {
    this.#app = app
  }

  /** Called by the gate first: takes the requests that are probes. */
  readonly intercepts = (request: FastifyRequest, reply: FastifyReply): boolean => {
    if (this.#waiting.size === 0) return false
    const take = this.#waiting.get(request.raw)
    if (take === undefined) return false
    reply.hijack()
    take(request)
    return true
  }

  /** The target is sent as it is, without the normalisation that `inject` does. */
  async send(method: string, target: string, headers: IncomingHttpHeaders = {}): Promise<ProbeOutcome> {
    const incoming = new IncomingMessage(new Socket())
    incoming.method = method
    incoming.url = target
    incoming.headers = { host: 'localhost', ...headers }
    incoming.push(null)
    let timer: NodeJS.Timeout | undefined
    try {
      return await new Promise<ProbeOutcome>((resolve) => {
        timer = setTimeout(() => resolve({ reached: false, status: 0 }), patience)
        this.#waiting.set(incoming, (request) => resolve({ reached: true, request }))
        const response = new ProbeResponse(incoming, (status) => resolve({ reached: false, status }))
        this.#routeSilently(incoming, response)
      })
    } finally {
      clearTimeout(timer)
      this.#waiting.delete(incoming)
    }
  }

  /** A probe is nobody's request: the logger that Fastify derives for it inherits silence, others keep their level. */
  #routeSilently(incoming: IncomingMessage, response: ServerResponse): void {
    const { log } = this.#app
    const { level } = log
    if (typeof level === 'string') log.level = 'silent'
    try {
      this.#app.routing(incoming, response)
    } finally {
      if (typeof level === 'string') log.level = level
    }
  }
}

/** Goes nowhere; tells the status of whoever answers before the gate. */
class ProbeResponse extends ServerResponse {
  readonly #answered: (status: number) => void

  constructor(request: IncomingMessage, answered: (status: number) => void) {
    super(request)
    this.#answered = answered
  }

  override end(): this {
    this.#answered(this.statusCode)
    return this
  }
}
