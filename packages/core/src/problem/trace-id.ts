/** The trace that a request belongs to, so that a caller's report and the operator's trace can meet. */

// The OpenTelemetry API publishes itself under these, so that its copies and versions meet. Reading them costs no
// dependency and works however and whenever the SDK was started.
const openTelemetry: unique symbol = Symbol.for('opentelemetry.js.api.1')
const activeSpan = Symbol.for('OpenTelemetry Context Key SPAN')

/** The trace id of the active OpenTelemetry span, else of a valid `traceparent` header, else undefined. Never throws. */
export function traceIdOf(traceparent: string | string[] | undefined): string | undefined {
  return activeTraceId() ?? parseTraceparent(traceparent)
}

function activeTraceId(): string | undefined {
  try {
    // Read here and not by safeRead: for each failure without OpenTelemetry this is all that happens.
    const { [openTelemetry]: api } = globalThis as { readonly [openTelemetry]?: OpenTelemetryApi }
    if (!api) return undefined
    const id = api.context?.active().getValue(activeSpan)?.spanContext().traceId
    return id !== undefined && isTraceId(id) ? id : undefined
  } catch {
    return undefined
  }
}

/** W3C Trace Context, 3.2: `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`. */
function parseTraceparent(header: string | string[] | undefined): string | undefined {
  if (typeof header !== 'string') return undefined
  const [, id] = /^(?!ff)[\da-f]{2}-([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-|$)/.exec(header) ?? []
  return id !== undefined && isTraceId(id) ? id : undefined
}

function isTraceId(id: string): boolean {
  return /^(?!0{32})[\da-f]{32}$/.test(id)
}

/** What this package uses of the API's registry. */
interface OpenTelemetryApi {
  readonly context?: {
    active(): { getValue(key: symbol): { spanContext(): { readonly traceId: string } } | undefined }
  }
}
