/** Whether events can be part of the store's transactions: tried once, before the application serves. */
import type { AsyncTx, Events, Tx } from '@fastify-modular/core'
import { FMOD_SETTINGS_FOREIGN_EVENTS } from '../../misuse-errors.ts'
import { SettingScope } from '../../setting-definition.ts'
import type { RowChange, SettingsStore } from '../../store/store.ts'

/** Thrown to undo the probe. */
class Undo extends Error {}

const probe = { scope: SettingScope.Application, userId: '', key: 'settings.probe' } as const

/** How both are given one database. */
const sharing = {
  sync: 'one connection for sqlite({ database }) and sqliteOutbox({ database })',
  async: 'one pool for postgres({ pool }) and pgBoss({ pool })',
} as const

/**
 * Opens a transaction of the store, shows it to the transport and undoes it. Only for a transport of the store's kind.
 * @throws {FMOD_SETTINGS_FOREIGN_EVENTS} the transport is on another database of the same kind
 */
export async function verifyEvents(store: SettingsStore, events: Events): Promise<void> {
  if (store.transactional === false || events.transactional !== store.transactional) return
  let isShared = false
  async function ask(tx: AsyncTx): Promise<never> {
    isShared = await events.verify(tx)
    throw new Undo()
  }
  function enqueue(tx: Tx): Promise<never> {
    if (tx.kind === 'async') return ask(tx)
    isShared = events.verify(tx)
    throw new Undo()
  }
  try {
    const decide = (): RowChange[] => [{ ...probe, value: 'null', sealed: false }]
    await store.write({ actor: null, origin: 'probe', reads: [probe], decide, enqueue })
  } catch (error) {
    if (!(error instanceof Undo)) throw error
  }
  if (!isShared) throw new FMOD_SETTINGS_FOREIGN_EVENTS(store.name, sharing[store.transactional])
}
