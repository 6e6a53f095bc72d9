/** Why a request to the settings API failed, as its problem details say (RFC 9457). */
import type { SettingScope } from '../setting-definition.ts'

/** A row that changed since its writer read it. */
export interface Conflict {
  readonly key: string
  readonly scope: SettingScope
  /** The row's current version. */
  readonly version: number
}

/** The problem body of an answer. */
export interface Problem {
  readonly title?: string
  readonly detail?: string
  readonly code?: string
  readonly requestId?: string
  readonly errors?: Readonly<Record<string, readonly string[]>>
  readonly conflicts?: readonly Conflict[]
  readonly locked?: readonly string[]
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
  /** Keys of a 409 by the host's configuration. */
  readonly locked: readonly string[]
  /** To look the request up in the server's log. */
  readonly requestId: string | null

  constructor(status: number, problem: Problem, cause?: unknown) {
    super(problem.detail ?? problem.title ?? `The settings request failed with status ${status}.`, { cause })
    this.name = 'SettingsRequestError'
    this.status = status
    this.code = problem.code ?? 'UNKNOWN'
    this.errors = problem.errors ?? {}
    this.conflicts = problem.conflicts ?? []
    this.locked = problem.locked ?? []
    this.requestId = problem.requestId ?? null
  }
}
