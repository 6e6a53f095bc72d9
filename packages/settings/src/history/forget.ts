/** Removes what is stored for a setting that no module defines, or in a scope that its definition does not have any more. */
import { setImmediate } from 'node:timers/promises'
import type { Parts } from '../parts.ts'
import { isPlaceOf } from '../places.ts'
import { SettingScope } from '../setting-definition.ts'

/** Counts of removed rows. */
export interface ForgetReport {
  readonly values: number
  readonly history: number
}

/** In small transactions; safe to repeat and to interrupt. What the definition of today reads stays, with its history. */
export async function forgetSetting(
  { store, registry, coherence, log }: Parts,
  key: string,
): Promise<ForgetReport> {
  const setting = registry.find(key)
  const scopes = Object.values(SettingScope).filter((scope) => !isPlaceOf(setting, scope))
  const counts = { values: 0, history: 0 }
  for (let isDone = false; !isDone; await setImmediate()) {
    const removed = await store.forget(key, scopes)
    counts.values += removed.values
    counts.history += removed.history
    isDone = removed.isDone
  }
  await coherence.reload()
  log.info({ audit: 'settings.forget', key, scopes, ...counts }, 'what was stored for a setting is removed')
  return counts
}
