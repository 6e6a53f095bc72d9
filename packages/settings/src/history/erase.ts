/** Removes a user from all stored settings. */
import { setImmediate } from 'node:timers/promises'
import { requireTenantId, requireUser } from '../memory/owned-values.ts'
import type { Parts } from '../parts.ts'
import { SettingScope } from '../setting-definition.ts'
import { type Erased, type Owner, ownerHash } from '../store/store.ts'

/** Counts of removed data, and the places that may still have some. */
export interface ErasureReport extends Omit<Erased, 'isDone'> {
  /** Where the settings cannot remove the user. */
  readonly left: readonly string[]
}

/** One transaction for each portion, safe to repeat and to interrupt. */
export async function eraseUser(parts: Parts, id: string): Promise<ErasureReport> {
  return erase(parts, { scope: SettingScope.User, id: requireUser(id) })
}

/** The same of a tenant, whose members keep their names elsewhere. */
export async function eraseTenant(parts: Parts, id: string): Promise<ErasureReport> {
  return erase(parts, { scope: SettingScope.Tenant, id: requireTenantId(id) })
}

async function erase(
  { store, changes, coherence, events, log }: Parts,
  owner: Owner,
): Promise<ErasureReport> {
  const name = owner.scope === SettingScope.User ? 'user' : 'tenant'
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
      { audit: 'settings.erase', [name]: ownerHash(owner), ...counts, complete: isDone },
      isDone ? `the settings of a ${name} were erased` : `only part of the settings of a ${name} was erased`,
    )
    // Shared values in memory name their writers.
    if (!isDone || counts.mentions > 0) await coherence.reload()
  }
  const queued = events()?.transactional ? ['events that are not handled yet, and dead letters'] : []
  return { ...counts, left: [...queued, 'backups of the database', 'logs'] }
}
