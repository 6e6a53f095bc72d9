/** Reactions in this process: called when the value that `get` answers has changed, here or in another process. */
import type { FastifyBaseLogger } from 'fastify'
import type { JsonValue, SettingScope } from '../setting-definition.ts'
import type { SettingSource } from '../resolve.ts'
import type { EffectiveChange } from '../memory/shared-values.ts'
import { keyOf, type SettingReference } from '../definitions/tokens.ts'

/** What changed beside the value. */
export interface SettingChange<T = JsonValue> {
  readonly key: string
  readonly previous: T
  /** The definition's scope. */
  readonly scope: SettingScope
  readonly source: SettingSource
  readonly revision: number
  /** Whether this process wrote it, or learned of it. */
  readonly origin: 'local' | 'remote'
}

/** Called after the commit, with the new value; what it throws is logged and stops nobody. */
export type SettingListener<T = JsonValue> = (value: T, change: SettingChange<T>) => void | Promise<void>

export interface Listeners {
  /** Returns the function that removes the listener. */
  on(reference: SettingReference, listener: SettingListener): () => void
  notify(changes: readonly EffectiveChange[], revision: number, origin: SettingChange['origin']): void
}

/** Stands for every key. */
export const anyKey = '*'

export function createListeners(log: FastifyBaseLogger): Listeners {
  const byKey = new Map<string, ReadonlySet<{ readonly call: SettingListener }>>()

  function call(listener: SettingListener, value: JsonValue, change: SettingChange): void {
    const report = (err: unknown): void => log.error({ err, key: change.key }, 'settings listener failed')
    try {
      const result = listener(value, change)
      if (result instanceof Promise) result.catch(report)
    } catch (err) {
      report(err)
    }
  }

  return {
    on(reference, listener) {
      const key = keyOf(reference)
      const entry = { call: listener }
      byKey.set(key, new Set([...(byKey.get(key) ?? []), entry]))
      return () => {
        byKey.set(key, new Set([...(byKey.get(key) ?? [])].filter((other) => other !== entry)))
      }
    },
    notify(changes, revision, origin) {
      for (const { state, previous } of changes) {
        const { definition } = state.setting
        const { value, source, error } = state.shared
        if (error) continue // there is no value to tell
        const change = {
          key: definition.key,
          previous: previous.value,
          scope: definition.scope,
          source,
          revision,
          origin,
        }
        for (const key of [definition.key, anyKey]) {
          for (const listener of byKey.get(key) ?? []) call(listener.call, value, change)
        }
      }
    },
  }
}
