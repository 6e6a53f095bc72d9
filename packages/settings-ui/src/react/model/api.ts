/** The HTTP API of settings as the pages use it (S 4.1). */
import type { HistoryEntry, ImportReport, SettingsExport } from '@fastify-modular/settings'
import type { Definition, JsonValue, SettingValue } from './setting.ts'

/** One value to write; `version` is that of the value it replaces. */
export interface Entry {
  readonly key: string
  readonly scope: number
  readonly value: JsonValue
  readonly version: number
}

/** Why the API did not do what it was asked; `status` 0 when it did not answer. */
export class ApiError extends Error {
  readonly status: number
  readonly problem: Problem

  constructor(status: number, problem: Problem = {}) {
    super(problem.detail ?? `HTTP ${status}`)
    this.status = status
    this.problem = problem
  }
}

/** The parts of a problem (RFC 9457) that the pages read. */
export interface Problem {
  readonly detail?: string
  readonly errors?: Readonly<Record<string, readonly string[]>>
  readonly locked?: readonly string[]
  readonly requestId?: string
}

type Fetch = typeof globalThis.fetch

/** Milliseconds after which a request counts as unanswered. */
const patience = 15_000

export type Api = ReturnType<typeof createApi>

/** @param base where the API is, relative to the page or absolute, without a slash at its end */
export function createApi(base: string, fetch: Fetch = (...args) => globalThis.fetch(...args)) {
  async function request<T>(method: string, path: string, body?: unknown, headers = {}): Promise<T> {
    const response = await ask(method, path, body, headers)
    if (response.status === 204) return undefined as T // callers of writes expect it
    const isJson = /json/.test(response.headers.get('content-type') ?? '')
    // Some gates answer with a login page instead of a status.
    if (response.ok && !isJson) throw new ApiError(401)
    const content: unknown = isJson ? await response.json().catch(() => ({})) : {}
    if (!response.ok) throw new ApiError(response.status, content as Problem) // members are optional
    return content as T // the API's own schema
  }

  async function ask(method: string, path: string, body: unknown, headers: object): Promise<Response> {
    try {
      return await fetch(base + path, {
        method,
        headers: {
          accept: 'application/json',
          prefer: 'return=representation',
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(patience),
      })
    } catch {
      throw new ApiError(0)
    }
  }

  const part = (key: string): string => `/${encodeURIComponent(key)}`
  const ifMatch = (version: number): object => ({ 'if-match': `"r${version}"` })

  return {
    definitions: () => request<Definition[]>('GET', '/definitions'),
    list: () => request<SettingValue[]>('GET', ''),
    me: () => request<SettingValue[]>('GET', '/me'),
    updateMany: (entries: readonly Entry[]) => request<SettingValue[] | undefined>('PUT', '/bulk', entries),
    reset: ({ key, scope, version }: SettingValue) =>
      request<SettingValue | undefined>('DELETE', `${part(key)}?scope=${scope}`, undefined, ifMatch(version)),
    updateOwn: ({ key, value, version }: Entry) =>
      request<SettingValue | undefined>('PUT', '/me', { key, value }, ifMatch(version)),
    resetOwn: ({ key, version }: SettingValue) =>
      request<SettingValue | undefined>('DELETE', `/me${part(key)}`, undefined, ifMatch(version)),
    history: (key: string, scope: number) =>
      request<HistoryEntry[]>('GET', `${part(key)}/history?scope=${scope}&limit=100`),
    rollback: (key: string, scope: number, revision: number) =>
      request<undefined>('POST', `${part(key)}/rollback`, { scope, revision }),
    exportAll: () => request<SettingsExport>('GET', '/export'),
    importAll: (file: unknown, query: string) => request<ImportReport>('POST', `/import?${query}`, file),
  }
}
