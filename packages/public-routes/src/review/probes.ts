/** Requests of the gate's own: they go through the real router and the hooks before the gate, and end there. */
import { type IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { silently, withTimeout } from '@fastify-modular/core/internal'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Decision } from '../gate/decision.ts'

/** The request as the gate saw it, or the status of an answer before the gate; 0 for no answer at all. */
export type ProbeOutcome =
  | { readonly reached: true; readonly request: FastifyRequest; readonly decision: Decision }
  | { readonly reached: false; readonly status: number }

/** How long an earlier hook may take, in milliseconds. */
const patience = 5000

export interface Probe {
  readonly method: string
  /** Sent as it is, without the normalisation that `inject` does. */
  readonly target: string
  readonly headers?: IncomingHttpHeaders
  /** That of the client. */
  readonly address?: string
}

export function sendProbe(
  app: FastifyInstance,
  { method, target, headers = {}, address = '127.0.0.1' }: Probe,
): Promise<ProbeOutcome> {
  const outcome = new Promise<ProbeOutcome>((resolve) => {
    const message = new ProbeMessage(address, resolve)
    message.method = method
    message.url = target
    message.headers = { host: 'localhost', ...headers }
    // No client sent it: it is not logged like a request.
    silently(app, () => app.routing(message, message.response))
  })
  return withTimeout(outcome, patience, () => ({ reached: false, status: 0 }))
}

/** The gate calls it. Takes the request if it is a probe, and returns whether it did. */
export function takeProbe(request: FastifyRequest, reply: FastifyReply, decision: Decision): boolean {
  const { raw } = request
  if (!isProbe(raw)) return false
  reply.hijack()
  raw.settle({ reached: true, request, decision })
  raw.response.end()
  return true
}

/** Not by `instanceof`, which makes each request of a signed-in caller 15 % slower, in process. */
function isProbe(raw: object): raw is ProbeMessage {
  return mark in raw
}

const mark = Symbol('@fastify-modular/public-routes/probe')

/** Has what hooks before the gate may use of every request: an address, a socket, a response that ends. */
class ProbeMessage extends IncomingMessage {
  readonly [mark] = true
  /** The first outcome counts. */
  readonly settle: (outcome: ProbeOutcome) => void
  readonly response: ServerResponse

  constructor(address: string, settle: (outcome: ProbeOutcome) => void) {
    const socket = new ProbeSocket(address)
    super(socket)
    Object.assign(this, { httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1, complete: true })
    this.push(null)
    this.settle = settle
    this.response = new ServerResponse(this)
    this.response.assignSocket(socket)
    this.response.on('finish', () => {
      settle({ reached: false, status: this.response.statusCode })
      socket.destroy() // the response closes with it
    })
    socket.on('drain', () => this.response.emit('drain'))
    socket.on('close', () => settle({ reached: false, status: 0 }))
  }
}

/** Swallows what is written to it. */
class ProbeSocket extends Socket {
  override readonly remoteAddress: string
  override readonly localAddress = '127.0.0.1'
  override readonly remoteFamily = 'IPv4'
  override readonly remotePort = 0
  override readonly localPort = 0

  constructor(address: string) {
    super()
    this.remoteAddress = address
  }

  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done()
  }

  override _writev(_chunks: unknown, done: () => void): void {
    done()
  }
}
