/** Removes a user from all stored settings. */
import { setImmediate } from 'node:timers/promises'
import { requireUser } from '../memory/owned-values.ts'
import type { Parts } from '../parts.ts'
import { SettingScope } from '../setting-definition.ts'
import { type Erased, type Owner, ownerHash } from '../store/store.ts'

/** Counts of removed data, and the places that may still have some. */
export interface ErasureReport extends Omit<Erased, 'isDone'> {
  /** Where the settings cannot remove the user. */
  readonly left: readonly string[]
}

/** One transaction for each portion, safe to repeat and to interrupt. */
export async function eraseUser(
  { store, changes, coherence, events, log }: Parts,
  id: string,
): Promise<ErasureReport> {
  const owner: Owner = { scope: SettingScope.User, id: requireUser(id) }
  const counts = { values: 0, history: 0, mentions: 0 }
  let isDone = false
  try {
    while (!isDone) {
      const erased = await store.owned.erase(owner)
      changes.owned({ owners: [owner] })
      for (const count of ['values', 'history', 'mentions'] as const) counts[count] += erased[count]
      isDone = erased.isDone
      await setImmediate()
    }
  } finally {
    // A portion that failed may have been committed.
    if (!isDone) changes.owned({ owners: [owner] })
    log.info(
      { audit: 'settings.erase', user: ownerHash(owner), ...counts, complete: isDone },
      isDone ? 'the settings of a user were erased' : 'only part of the settings of a user was erased',
    )
    // Shared values in memory name their writers.
    if (!isDone || counts.mentions > 0) await coherence.reload()
  }
  const queued = events()?.transactional ? ['events that are not handled yet, and dead letters'] : []
  return { ...counts, left: [...queued, 'backups of the database', 'logs'] }
}
