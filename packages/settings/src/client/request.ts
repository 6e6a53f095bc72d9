/** How requests of the client are sent, and how they fail. */
import type { Conflict } from '../exceptions.ts'
import type { People } from '../http/people.ts'
import { tenantHeader } from '../setting-definition.ts'

/** Where the API is and how to reach it. */
export interface SettingsClientOptions {
  /** The prefix of the routes, relative or absolute. @default '/api/settings' */
  readonly baseUrl?: string
  /** @default globalThis.fetch */
  readonly fetch?: typeof globalThis.fetch
  /** Sent with every request, such as `authorization`; a function is called for each request. */
  readonly headers?: Readonly<Record<string, string>> | (() => Readonly<Record<string, string>>)
  /**
   * The id of the tenant that requests are meant for, as the header `settings-tenant`. The server may find it in another way,
   * and checks whether the caller is a member.
   */
  readonly tenant?: string | undefined
  /** Milliseconds after which a request is given up. @default 30000 */
  readonly timeout?: number
}

/** Options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

/** What to send. */
export interface Call extends CallOptions {
  readonly method?: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** Members that are undefined are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a request and resolves to its JSON, undefined for an empty answer. @throws {SettingsRequestError} */
type Send = <T>(path: string, call?: Call) => Promise<T>

/** Sends a request to a path of the API, with what the options add to it. */
export type Open = (
  path: string,
  request: Omit<RequestInit, 'headers'> & { readonly headers: Readonly<Record<string, string>> },
) => Promise<Response>

export function createOpen({ baseUrl = '/api/settings', tenant, ...options }: SettingsClientOptions): Open {
  const base = baseUrl.replace(/\/+$/, '')
  return async (path, request) => {
    const own = typeof options.headers === 'function' ? options.headers() : options.headers
    const headers = { ...(tenant !== undefined && { [tenantHeader]: tenant }), ...own, ...request.headers }
    return (options.fetch ?? fetch)(base + path, { ...request, headers })
  }
}

export function createSend(options: SettingsClientOptions): Send {
  const open = createOpen(options)

  return async function send<T>(path: string, call: Call = {}): Promise<T> {
    const { method = 'GET', query = {}, body, signal } = call
    const headers = {
      accept: 'application/json, application/problem+json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...call.headers,
    }
    const deadline = AbortSignal.timeout(options.timeout ?? 30_000)
    const request = {
      method,
      headers,
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }
    try {
      const response = await open(path + toQuery(query), request)
      if (!response.ok) throw new SettingsRequestError(response.status, await readProblem(response))
      const text = await response.text()
      return (text === '' ? undefined : JSON.parse(text)) as T // the API's schema
    } catch (error) {
      if (error instanceof SettingsRequestError || signal?.aborted) throw error
      throw new SettingsRequestError(0, { code: 'NETWORK', title: 'The server did not answer.' }, error)
    }
  }
}

function toQuery(query: NonNullable<Call['query']>): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) parameters.set(name, String(value))
  return parameters.size === 0 ? '' : `?${parameters.toString()}`
}

/** A proxy between client and server may answer HTML. */
async function readProblem(response: Response): Promise<Problem> {
  const retryAfter = Number(response.headers.get('retry-after'))
  const header = retryAfter > 0 ? { retryAfter } : {}
  try {
    const body: unknown = await response.json()
    return typeof body === 'object' && body !== null ? { ...body, ...header } : header
  } catch {
    return header
  }
}

/** The problem body of an answer, with the seconds of its header `Retry-After`. */
type Problem = Partial<Omit<SettingsRequestError, 'status' | keyof Error>> & {
  readonly title?: string
  readonly detail?: string
}

/** A request that was refused or did not arrive. */
export class SettingsRequestError extends Error {
  /** The HTTP status; 0 when there was no answer (offline, time-out): the write may or may not have happened. */
  readonly status: number
  /** Machine-readable: `SETTING_VALIDATION`, `CONFLICT`, `NETWORK`. */
  readonly code: string
  /** Messages by setting key (422) or by field (400). */
  readonly errors: Readonly<Record<string, readonly string[]>>
  /** Of a 409 by stale versions. */
  readonly conflicts: readonly Conflict[]
  /** Of a 409: the names of those who made the conflicting changes. */
  readonly people: People
  /** Keys of a 409 by the host's configuration. */
  readonly locked: readonly string[]
  /** To look the request up in the server's log. */
  readonly requestId: string | null
  /** Seconds after which it may succeed, of a 429 or 503 that says so. */
  readonly retryAfter: number | null

  constructor(status: number, problem: Problem, cause?: unknown) {
    super(problem.detail ?? problem.title ?? `The settings request failed with status ${status}.`, { cause })
    this.name = 'SettingsRequestError'
    this.status = status
    this.code = problem.code ?? 'UNKNOWN'
    this.errors = problem.errors ?? {}
    this.conflicts = problem.conflicts ?? []
    this.people = problem.people ?? {}
    this.locked = problem.locked ?? []
    this.requestId = problem.requestId ?? null
    this.retryAfter = problem.retryAfter ?? null
  }
}
