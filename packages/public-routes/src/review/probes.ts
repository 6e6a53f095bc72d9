/** Requests of the gate's own: they go through the real router and the hooks before the gate, and end there. */
import { type IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { withTimeout } from '@fastify-modular/core/internal'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Decision } from '../gate/decision.ts'

/** The request as the gate saw it, or the status of an answer before the gate; 0 for no answer at all. */
export type ProbeOutcome =
  | { readonly reached: true; readonly request: FastifyRequest; readonly decision: Decision }
  | { readonly reached: false; readonly status: number }

/** How long an earlier hook may take, in milliseconds. */
const patience = 5000

export class Probes {
  readonly #app: FastifyInstance

  constructor(app: FastifyInstance) {
    this.#app = app
  }

  /** The target is sent as it is, without the normalisation that `inject` does. */
  send(method: string, target: string, headers: IncomingHttpHeaders = {}): Promise<ProbeOutcome> {
    const outcome = new Promise<ProbeOutcome>((resolve) => {
      const message = new ProbeMessage(resolve)
      message.method = method
      message.url = target
      message.headers = { host: 'localhost', ...headers }
      routeSilently(this.#app, message)
    })
    return withTimeout(outcome, patience, () => ({ reached: false, status: 0 }))
  }
}

/** The gate calls it. Takes the request if it is a probe, and returns whether it did. */
export function takeProbe(request: FastifyRequest, reply: FastifyReply, decision: Decision): boolean {
  const { raw } = request
  if (waiting.size === 0 || !(raw instanceof ProbeMessage)) return false
  reply.hijack()
  raw.settle({ reached: true, request, decision })
  raw.response.end()
  return true
}

/** Probes that nothing has answered: most requests come while there are none, and are not looked at. */
const waiting = new Set<ProbeMessage>()

/** Has what hooks before the gate may use of every request: an address, a socket, a response that ends. */
class ProbeMessage extends IncomingMessage {
  readonly settle: (outcome: ProbeOutcome) => void
  readonly response: ServerResponse

  constructor(settle: (outcome: ProbeOutcome) => void) {
    const socket = new ProbeSocket()
    super(socket)
    Object.assign(this, { httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1, complete: true })
    this.push(null)
    this.settle = (outcome) => {
      waiting.delete(this)
      settle(outcome)
    }
    waiting.add(this)
    this.response = new ServerResponse(this)
    this.response.assignSocket(socket)
    this.response.on('finish', () => {
      this.settle({ reached: false, status: this.response.statusCode })
      socket.destroy() // the response closes with it
    })
    socket.on('drain', () => this.response.emit('drain'))
    socket.on('close', () => this.settle({ reached: false, status: 0 }))
  }
}

/** Comes from this machine, and swallows what is written to it. */
class ProbeSocket extends Socket {
  override readonly remoteAddress = '127.0.0.1'
  override readonly localAddress = '127.0.0.1'
  override readonly remoteFamily = 'IPv4'
  override readonly remotePort = 0
  override readonly localPort = 0

  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done()
  }

  override _writev(_chunks: unknown, done: () => void): void {
    done()
  }
}

/**
 * No client sent the probe: the logger that Fastify derives for it is silent. Where the logger lets nothing be defined, the
 * probe is logged like a request.
 */
function routeSilently({ log, routing }: FastifyInstance, message: ProbeMessage): void {
  const child: unknown = Reflect.get(log, 'child')
  const silent = (bindings: object, options?: object): unknown =>
    Reflect.apply(child as typeof log.child, log, [bindings, { ...options, level: 'silent' }])
  const isSilent =
    'level' in log &&
    !Object.hasOwn(log, 'child') &&
    Reflect.defineProperty(log, 'child', { value: silent, configurable: true })
  try {
    routing(message, message.response)
  } finally {
    if (isSilent) Reflect.deleteProperty(log, 'child')
  }
}
