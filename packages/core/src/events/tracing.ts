/** Trace context of events: connects the span of a publisher with those of handlers, whatever the tracer. */
import type { DomainEvent } from './event.ts'
import type { EventHandler } from './handlers.ts'

/** The seam to a tracer such as OpenTelemetry's. */
export interface EventTracing {
  /** The `traceparent` (W3C Trace Context) of what publishes; called at each publish. Anything malformed is left out. */
  current(): string | undefined
  /** Runs one attempt within a span: calls `handle` once and returns what it returns. */
  run<T>(delivery: TracedDelivery, handle: () => T): T
}

/** One attempt, as a tracer sees it. */
export interface TracedDelivery {
  readonly type: string
  readonly eventId: string
  readonly handler: string
  /** The first attempt is 1. */
  readonly attempt: number
  /** The publisher's `traceparent`, at the first attempt: the span is its child. */
  readonly parent?: string
  /** The publisher's `traceparent`, at a later attempt: the span begins a trace of its own that links to it. */
  readonly link?: string
}

const traceparentFormat = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** The publisher's `traceparent`. A tracer that fails keeps no event from being published. */
export function currentTraceparent(tracing: EventTracing | undefined): string | undefined {
  try {
    return wellFormed(tracing?.current())
  } catch {
    return undefined
  }
}

/** The handler, each of whose attempts runs in the tracer. */
export function traced(handler: EventHandler, tracing: EventTracing): EventHandler {
  const { name, event } = handler
  return {
    ...handler,
    handle(published: DomainEvent, signal, delivery) {
      const { attempt } = delivery
      const traceparent = wellFormed(delivery.traceparent)
      const trace = traceparent === undefined ? {} : { [attempt === 1 ? 'parent' : 'link']: traceparent }
      const described = { type: event.type, eventId: published.eventId, handler: name, attempt, ...trace }
      return tracing.run(described, () => handler.handle(published, signal, delivery))
    },
  }
}

function wellFormed(traceparent: unknown): string | undefined {
  return typeof traceparent === 'string' && traceparentFormat.test(traceparent) ? traceparent : undefined
}
