/** The settings client, with one method for each route. */
import type { SettingToken } from '../definitions/tokens.ts'
import { type JsonValue, type SettingScope, toEtag } from '../setting-definition.ts'
import type { Conflict } from '../exceptions.ts'
import type { HistoryEntry, HistoryPage } from '../history/history.ts'
import type { RevertOptions, RevertReport } from '../history/revert.ts'
import type { ImportReport, SettingsExport } from '../history/transfer.ts'
import type { SettingDefinitionDto } from '../http/localized-definitions.ts'
import type { People } from '../http/people.ts'
import type { SettingValueDto, ValueChange } from '../reading/dto.ts'
import type { SettingInspection } from '../reading/inspect.ts'
import type { BulkSettingUpdate } from '../write/write.ts'

/** Selects values. */
export interface ListFilter extends CallOptions {
  readonly scope?: SettingScope
  /** The group of settings; empty for those without one. */
  readonly group?: string
}

/** One of the caller's settings, with what holds if they have no value of their own. */
interface MySettingDto extends SettingValueDto {
  readonly inheritedValue: JsonValue
}

/** A System or Application value after a write. */
export interface WrittenSettingDto extends SettingValueDto {
  /** The change set of the write, which `revert` takes back; null where nothing changed. */
  readonly revision: number | null
}

/** Writes only if the row is still at this version; 0 is unset. A different one fails with status 412. */
export interface WriteCondition extends CallOptions {
  readonly version?: number | undefined
}

/** Which page of history, newest first. */
export interface HistoryPageOptions extends CallOptions {
  readonly scope?: SettingScope
  /** Only entries after the `next` of a page. */
  readonly before?: string
  /** 1–500. @default 50 */
  readonly limit?: number
}

/** Which changes, newest first; members are combined with AND. */
export interface ChangesFilter extends Omit<HistoryPageOptions, 'scope'> {
  /** The group of settings; empty for those without one. */
  readonly group?: string
  /** The id of the caller who made them. */
  readonly actor?: string
  /** Of this time and later; ISO 8601. */
  readonly since?: string
}

/** The changes of one write; a page may have only a part of them. */
export interface SettingChangeSet {
  readonly revision: number
  readonly at: string
  readonly actor: string | null
  readonly entries: readonly HistoryEntry[]
}

/** Some change sets, newest first; `next` is for the option `before`, null at the end. */
export interface ChangesPage {
  readonly changes: readonly SettingChangeSet[]
  readonly next: string | null
  readonly people: People
}

/** Some history, newest first, and who made it. */
interface ListedHistoryPage extends HistoryPage {
  readonly people: People
}

/** One value, and for callers who may change it the name of its writer. */
interface GotSettingDto extends SettingValueDto {
  readonly people?: People
}

/** Which part of a change set is put back, and how. */
export interface RevertMode extends CallOptions, Pick<RevertOptions, 'keys' | 'force' | 'dryRun'> {
  readonly note?: string
}

export interface ImportMode extends CallOptions {
  /** @default 'merge' */
  readonly mode?: 'merge' | 'replace'
  readonly dryRun?: boolean
  /** The revision of the dry run; a different one fails with status 412. */
  readonly revision?: number
}

/** What a test of a resource found. */
export interface ProbeAnswer {
  readonly ok: boolean
  /** What the resource says; null where it works and says nothing. */
  readonly message: string | null
  /** Of a test that failed without a message of its own: to look it up in the log. */
  readonly requestId: string | null
}

/** A change that has to be kept, or what became of it. */
export interface KeptChange {
  readonly revision: number
  readonly state: 'open' | 'kept' | 'put-back' | 'conflicted'
  /** ISO 8601. */
  readonly due: string
}

/** A change that waits to be kept. */
export interface OpenChange extends SettingChangeSet, KeptChange {
  /** How many of its entries the caller may not see. */
  readonly hidden: number
}

/** The changes that wait to be kept, the first that is due first. */
interface OpenChanges {
  readonly changes: readonly OpenChange[]
  readonly people: People
  /** The time of the clock by which they are due; ISO 8601. */
  readonly now: string
}

/** A change that had to be kept, with what became of it. */
export interface SettledChange extends KeptChange {
  /** The id of the caller who made it. */
  readonly by: string | null
  /** By key, why it was not put back. */
  readonly reasons: Readonly<Record<string, string>>
  readonly entries: readonly HistoryEntry[]
  readonly people: People
}

/** How a write of several values is kept. */
interface KeepMode extends CallOptions {
  /** Seconds, 5 to 86400, after which the write is put back unless `keep` is called. */
  readonly confirmWithin?: number | undefined
}

/** All methods reject with `SettingsRequestError`. */
export interface SettingsClient {
  /** System and Application values by group, order and key, or with User scope the caller's stored ones. */
  list(filter?: ListFilter): Promise<SettingValueDto[]>
  definitions(filter?: CallOptions): Promise<SettingDefinitionDto[]>
  get(key: string, scope: SettingScope, options?: CallOptions): Promise<GotSettingDto>
  /** The value that holds for the caller. */
  resolved<T>(token: SettingToken<T>, options?: CallOptions): Promise<T>
  resolved(key: string, options?: CallOptions): Promise<JsonValue>
  /** Writes a System or Application value, and resolves to the new one; null clears it. */
  set(
    key: string,
    value: JsonValue,
    scope: SettingScope,
    condition?: WriteCondition,
  ): Promise<WrittenSettingDto>
  /** All or nothing. */
  setMany(updates: readonly BulkSettingUpdate[], options?: KeepMode): Promise<WrittenSettingDto[]>
  /** What `setMany` would change; nothing is written. */
  preview(updates: readonly BulkSettingUpdate[], options?: CallOptions): Promise<ValueChange[]>
  /** Clears a System or Application value: the default holds again. */
  reset(key: string, scope: SettingScope, condition?: WriteCondition): Promise<WrittenSettingDto>
  /** The User settings with the caller's values and what the caller inherits. */
  mine(options?: CallOptions): Promise<MySettingDto[]>
  setMine(key: string, value: JsonValue, condition?: WriteCondition): Promise<SettingValueDto>
  resetMine(key: string, condition?: WriteCondition): Promise<SettingValueDto>
  /** The values of definitions with `public: true`, by key; needs no signed-in caller. */
  publicValues(options?: CallOptions): Promise<Readonly<Record<string, JsonValue>>>
  /** Which layer supplies the value, and what the others hold. Needs `Settings.Update`, as do history and changes. */
  inspect(key: string, options?: CallOptions): Promise<SettingInspection>
  history(key: string, page?: HistoryPageOptions): Promise<ListedHistoryPage>
  changes(filter?: ChangesFilter): Promise<ChangesPage>
  /** Writes the value of a revision again, and resolves to the restored value; with `version` only if the row is still at it. */
  restore(
    key: string,
    target: { readonly scope: SettingScope; readonly revision: number; readonly note?: string },
    condition?: WriteCondition,
  ): Promise<SettingValueDto>
  /** Puts back everything that a change set replaced, all or nothing; status 409 with `conflicts` where it changed since. */
  revert(revision: number, options?: RevertMode): Promise<RevertReport>
  /** The changes that wait to be kept. */
  openChanges(options?: CallOptions): Promise<OpenChanges>
  /** A change that waits to be kept, or waited; only those of its entries that the caller may see. */
  change(revision: number, options?: CallOptions): Promise<SettledChange>
  /** Keeps a change, or extends the time to do so by `within` seconds from now. Status 409 where it is over. */
  keep(revision: number, options?: CallOptions & { readonly within?: number }): Promise<KeptChange>
  /** Tests a resource with values by key that are not saved. Status 429 where it was tested too often. */
  probe(
    resource: string,
    drafts: Readonly<Record<string, JsonValue>>,
    options?: CallOptions,
  ): Promise<ProbeAnswer>
  export(options?: CallOptions): Promise<SettingsExport>
  import(file: Pick<SettingsExport, 'format' | 'settings'>, options?: ImportMode): Promise<ImportReport>
}

/** A client for the settings routes: `createSettingsClient({ baseUrl: '/api/settings' })`. */
export function createSettingsClient(options: SettingsClientOptions = {}): SettingsClient {
  const send = createSend(options)

  return {
    list: ({ scope, group, signal } = {}) => send('', { query: { scope, group }, signal }),
    definitions: ({ signal } = {}) => send('/definitions', { signal }),
    get: (key, scope, call) => send(pathOf(key), { query: { scope }, ...call }),
    resolved: <T>(reference: string | { readonly key: string }, call?: CallOptions) =>
      send<T>(pathOf(typeof reference === 'string' ? reference : reference.key, '/resolved'), call),
    set: (key, value, scope, condition) => send('', write('PUT', { key, scope, value }, condition)),
    setMany: (updates, { signal, confirmWithin } = {}) =>
      send('/bulk', { ...write('PUT', updates, { signal }), query: { confirmWithin } }),
    preview: (updates, call) =>
      send('/bulk', { method: 'PUT', query: { dryRun: true }, body: updates, ...call }),
    reset: (key, scope, condition) =>
      send(pathOf(key), { ...write('DELETE', undefined, condition), query: { scope } }),
    mine: (call) => send('/me', call),
    setMine: (key, value, condition) => send('/me', write('PUT', { key, value }, condition)),
    resetMine: (key, condition) => send(`/me${pathOf(key)}`, write('DELETE', undefined, condition)),
    publicValues: (call) => send('/public', call),
    inspect: (key, call) => send(pathOf(key, '/inspect'), call),
    history: (key, { scope, before, limit, signal } = {}) =>
      send(pathOf(key, '/history'), { query: { scope, before, limit }, signal }),
    changes: ({ before, limit, group, actor, since, signal } = {}) =>
      send('/changes', { query: { before, limit, group, actor, since }, signal }),
    restore: (key, target, condition) => send(pathOf(key, '/restore'), write('POST', target, condition)),
    revert: (revision, { dryRun, keys, force, note, signal } = {}) => {
      const body = { keys, force, note }
      return send(`/changes/${revision}/revert`, { method: 'POST', query: { dryRun }, body, signal })
    },
    openChanges: (call) => send('/changes', { query: { state: 'open' }, ...call }),
    change: (revision, call) => send(`/changes/${revision}`, call),
    keep: (revision, { within, ...call } = {}) =>
      send(`/changes/${revision}/keep`, { method: 'POST', body: { within }, ...call }),
    probe: (resource, drafts, call) =>
      send(`/resources${pathOf(resource, '/probe')}`, { method: 'POST', body: drafts, ...call }),
    export: (call) => send('/export', call),
    import: ({ format, settings }, { mode, dryRun, revision, signal } = {}) => {
      const body = { format, settings }
      return send('/import', {
        ...write('POST', body, { version: revision, signal }),
        query: { mode, dryRun },
      })
    },
  }
}

/** A write that is answered with the stored value. */
function write(
  method: 'PUT' | 'POST' | 'DELETE',
  body: object | undefined,
  { version, signal }: WriteCondition = {},
): Call {
  const condition = version === undefined ? {} : { 'if-match': toEtag(version) }
  return { method, body, headers: { prefer: 'return=representation', ...condition }, signal }
}

/** Where the API is and how to reach it. */
export interface SettingsClientOptions {
  /** The prefix of the routes, relative or absolute. @default '/api/settings' */
  readonly baseUrl?: string
  /** @default globalThis.fetch */
  readonly fetch?: typeof globalThis.fetch
  /** Sent with every request, such as `authorization`; a function is called for each request. */
  readonly headers?: Readonly<Record<string, string>> | (() => Readonly<Record<string, string>>)
  /** Milliseconds after which a request is given up. @default 30000 */
  readonly timeout?: number
}

/** Options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

/** What to send. */
interface Call extends CallOptions {
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

export function createOpen({ baseUrl = '/api/settings', ...options }: SettingsClientOptions): Open {
  const base = baseUrl.replace(/\/+$/, '')
  return async (path, request) => {
    const own = typeof options.headers === 'function' ? options.headers() : options.headers
    return (options.fetch ?? fetch)(base + path, { ...request, headers: { ...own, ...request.headers } })
  }
}

function createSend(options: SettingsClientOptions): Send {
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

/** A path below the prefix; `.` stands as it is, as keys have it. */
function pathOf(key: string, rest = ''): string {
  return `/${encodeURIComponent(key)}${rest}`
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

/** The problem body of an answer. */
export interface Problem {
  readonly title?: string
  readonly detail?: string
  readonly code?: string
  readonly requestId?: string
  readonly errors?: Readonly<Record<string, readonly string[]>>
  readonly conflicts?: readonly Conflict[]
  readonly people?: People
  readonly locked?: readonly string[]
  /** Of the header `Retry-After`; seconds. */
  readonly retryAfter?: number
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
