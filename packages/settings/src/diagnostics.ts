/** What happens to settings, for tracing and metrics: `node:diagnostics_channel` and counters. Never a value. */
import { channel } from 'node:diagnostics_channel'
import { SettingScope } from './setting-definition.ts'
import type { WriteResult } from './store/store.ts'

/** A message of the channel `fastify-modular:settings`. */
export type SettingsDiagnostic = SettingWritten | SettingsRefreshed | InvalidSettingFound

/** This process wrote one row, and memory has it. */
interface SettingWritten {
  readonly type: 'change'
  readonly key: string
  readonly scope: SettingScope
  readonly userId: string | null
  /** Of Tenant scope alone: whose value it is. */
  readonly tenant?: string
  readonly change: 'create' | 'update' | 'delete'
  /** The version that the row got. */
  readonly revision: number
  readonly actor: string | null
}

/** Memory took what other processes wrote, or failed to. */
interface SettingsRefreshed {
  readonly type: 'refresh'
  /** The revision that memory holds now. */
  readonly revision: number
  /** Whether everything was read again rather than what had changed. */
  readonly reloaded: boolean
  /** Why the database could not be read; absent where it could. */
  readonly error?: unknown
}

/** A stored value no longer fits its definition and counts as unset. */
interface InvalidSettingFound {
  readonly type: 'invalid'
  readonly key: string
  readonly scope: SettingScope
}

/** Counts of this process since it started. Reads are not counted. */
export interface SettingsStats {
  /** Writes that changed something. */
  readonly writes: number
  /** Rows that they changed. */
  readonly changes: number
  /** Writes refused because another write came first (409, 412). */
  readonly conflicts: number
  /** Writes refused because of their values, or because the host locked them (422, 409). */
  readonly refusals: number
  /** Writes that failed for another reason, such as a database that does not answer (503). */
  readonly failures: number
  /** How often memory took what other processes wrote. */
  readonly refreshes: number
  /** How often it could not. */
  readonly failedRefreshes: number
  /** Stored values found that no longer fit their definitions. */
  readonly invalid: number
}

const diagnostics = channel('fastify-modular:settings')

/** Counts, and publishes on the channel; costs next to nothing without a subscriber. */
export class Observer {
  readonly #stats = {
    writes: 0,
    changes: 0,
    conflicts: 0,
    refusals: 0,
    failures: 0,
    refreshes: 0,
    failedRefreshes: 0,
    invalid: 0,
  }

  get stats(): SettingsStats {
    return { ...this.#stats }
  }

  count(what: 'conflicts' | 'refusals' | 'failures'): void {
    this.#stats[what]++
  }

  wrote({ changes, actor }: WriteResult & { readonly actor: string | null }): void {
    this.#stats.writes++
    this.#stats.changes += changes.length
    for (const { key, scope, owner, revision, before, after } of changes) {
      const change = after ? (before ? 'update' : 'create') : 'delete'
      const userId = scope === SettingScope.User ? owner : null
      const tenant = scope === SettingScope.Tenant && { tenant: owner }
      publish({ type: 'change', key, scope, userId, ...tenant, change, revision, actor })
    }
  }

  refreshed(message: Omit<SettingsRefreshed, 'type'>): void {
    this.#stats[message.error === undefined ? 'refreshes' : 'failedRefreshes']++
    publish({ type: 'refresh', ...message })
  }

  foundInvalid(message: Omit<InvalidSettingFound, 'type'>): void {
    this.#stats.invalid++
    publish({ type: 'invalid', ...message })
  }
}

function publish(message: SettingsDiagnostic): void {
  if (diagnostics.hasSubscribers) diagnostics.publish(message)
}
