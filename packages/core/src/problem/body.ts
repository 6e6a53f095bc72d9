/**
 * The body of a problem, `application/problem+json` (RFC 9457). A further member of every body is added here, and to
 * `problemDetailsSchema` of the errors package. Two bodies are constants without these members of the request: those of
 * its server-options.ts, before any route, and the last resort of its error-page.ts.
 */
import { canonicalPath } from '../internal/canonical-path.ts'
import { safeKeys, truncate } from '../internal/safe.ts'
import type { Problem } from './problem.ts'

/** In characters. */
const maxDetail = 2000
/** Of all extensions together, in characters of JSON. */
const maxExtensions = 65_536

/** What a body names of the request that failed; a `FastifyRequest` has it. */
export interface ProblemOccurrence {
  /** The request target as the client sent it. */
  readonly originalUrl: string
  /** Names the request in the log. */
  readonly id: unknown
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/** Members that no extension can override (RFC 9457, 3.1, and those of these packages), in their order. */
export const standardMembers: ReadonlySet<string> = new Set([
  'type',
  'title',
  'status',
  'detail',
  'instance',
  'code',
  'requestId',
  'traceId',
])

/**
 * The body of a problem, its members in the order of `standardMembers`, then the extensions. `instance` is the path of
 * the request without its query, where tokens live; it is left out for targets that are not canonical. Text, because a
 * response schema of the route would filter an object, and because it is faster.
 */
export function problemText(problem: Problem, { originalUrl, id, headers }: ProblemOccurrence): string {
  const traceId = traceIdOf(headers['traceparent'])
  const { detail, start, withoutDetail, code } = kindOf(problem)
  return (
    (problem.detail === detail ? start : withDetail(withoutDetail, problem.detail)) +
    instanceOf(originalUrl) +
    `${code},"requestId":${JSON.stringify(String(id))}` +
    (traceId === undefined ? '' : `,"traceId":"${traceId}"`) +
    (problem.extensions ? extensionsOf(problem.extensions) : '') +
    '}'
  )
}

/** The text that problems of one kind share. */
interface Kind extends Pick<Problem, 'type' | 'title' | 'status'> {
  /** Of the problem that was seen first; mostly it is constant. */
  readonly detail: string
  /** `{"type":…,"title":…,"status":…,"detail":…` */
  readonly start: string
  readonly withoutDetail: string
  /** `,"code":…` */
  readonly code: string
}

/** By code: a few hundred kinds are many. 10x JSON.stringify (bench/errors.mjs). */
const kinds = new Map<string, Kind>()
const maxKinds = 500

function kindOf({ type, title, status, detail: given, code }: Problem): Kind {
  const known = kinds.get(code)
  if (known && known.type === type && known.title === title && known.status === status) return known
  const detail = truncate(given, maxDetail)
  const withoutDetail = JSON.stringify({ type, title, status }).slice(0, -1)
  const start = withDetail(withoutDetail, detail)
  const kind = { type, title, status, detail, start, withoutDetail, code: `,"code":${JSON.stringify(code)}` }
  if (known || kinds.size < maxKinds) kinds.set(code, kind)
  return kind
}

function withDetail(start: string, detail: string): string {
  return `${start},"detail":${JSON.stringify(truncate(detail, maxDetail))}`
}

/** A canonical path needs no escapes in JSON, and is a URI reference. */
function instanceOf(url: string): string {
  if (canonicalPath(url) === null) return ''
  const query = url.indexOf('?')
  return `,"instance":"${query === -1 ? url : url.slice(0, query)}"`
}

/** `,"name":value` for each extension. One that cannot be serialised is left out, never the answer. */
function extensionsOf(extensions: Readonly<Record<string, unknown>>): string {
  let members = ''
  for (const name of safeKeys(extensions)) {
    // RFC 9457, 3.2: names begin with a letter and are made of letters, digits and underscores.
    if (standardMembers.has(name) || !/^[A-Za-z]\w{0,99}$/.test(name)) continue
    const value = toJson(extensions, name)
    if (value !== undefined && members.length + value.length <= maxExtensions)
      members += `,"${name}":${value}`
  }
  return members
}

function toJson(extensions: Readonly<Record<string, unknown>>, name: string): string | undefined {
  try {
    return JSON.stringify(extensions[name])
  } catch {
    return undefined // circular, a BigInt, a getter or toJSON that throws
  }
}

// The OpenTelemetry API publishes itself under these, so that its copies and versions meet. Reading them costs no
// dependency and works however and whenever the SDK was started.
const openTelemetry: unique symbol = Symbol.for('opentelemetry.js.api.1')
const activeSpan = Symbol.for('OpenTelemetry Context Key SPAN')

/** The trace id of the active OpenTelemetry span, else of a valid `traceparent` header, else undefined. Never throws. */
function traceIdOf(traceparent: string | string[] | undefined): string | undefined {
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
