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
      message.push(null)
      routeSilently(this.#app, message)
    })
    return withTimeout(outcome, patience, () => ({ reached: false, status: 0 }))
  }
}

/** The gate calls it. Takes the request if it is a probe, and returns whether it did. */
export function takeProbe(request: FastifyRequest, reply: FastifyReply, decision: Decision): boolean {
  const { raw } = request
  if (!(raw instanceof ProbeMessage)) return false
  reply.hijack()
  raw.settle({ reached: true, request, decision })
  raw.response.finish()
  return true
}

/** With what hooks before the gate may read of every request: an address, a socket and a response. */
class ProbeMessage extends IncomingMessage {
  readonly settle: (outcome: ProbeOutcome) => void
  readonly response: ProbeResponse

  constructor(settle: (outcome: ProbeOutcome) => void) {
    const local = { value: '127.0.0.1' }
    const socket = Object.defineProperties(new Socket(), {
      remoteAddress: local,
      localAddress: local,
      remoteFamily: { value: 'IPv4' },
      remotePort: { value: 0 },
      localPort: { value: 0 },
    })
    super(socket)
    this.settle = settle
    this.response = new ProbeResponse(this)
    this.response.assignSocket(socket)
  }
}

/** Goes nowhere; passes on the status of an answer before the gate. */
class ProbeResponse extends ServerResponse<ProbeMessage> {
  override write(): boolean {
    return true
  }

  override end(): this {
    this.req.settle({ reached: false, status: this.statusCode })
    this.finish()
    return this
  }

  /** Requests that are counted at their beginning are counted at their end, too: `onResponse` runs. */
  finish(): void {
    queueMicrotask(() => this.emit('finish'))
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
