/** The behaviour that every settings store has, as tests that a store of yours can run. */
import type { SettingsStore } from '../store/store.ts'
import { type ContractCase, silentLog } from './contract/case.ts'
import { enqueue } from './contract/enqueue.ts'
import { erasure } from './contract/erasure.ts'
import { history } from './contract/history.ts'
import { instances } from './contract/instances.ts'
import { reseal } from './contract/reseal.ts'
import { users } from './contract/users.ts'
import { values } from './contract/values.ts'
import { writes } from './contract/writes.ts'

/** An empty database for one test. */
export interface StoreFixture {
  /** A store on this database, not open yet. Each call gives one more instance. */
  create(): SettingsStore
  /** Removes the database. All stores are closed by then. */
  dispose?(): Promise<void>
}

/** Declares a test that fails by rejecting: `test` of tap, of node:test or of vitest. */
export type DeclareTest = (name: string, run: () => Promise<void>) => unknown

/**
 * Declares one test for each behaviour that the settings service relies on. Each gets a database of its own.
 * A store whose `transactional`, `durable` or `watch` says that it cannot do something passes the tests of it.
 *
 * @example storeContract(test, async () => ({ create: () => myStore(url), dispose: () => drop(url) }))
 */
export function storeContract(test: DeclareTest, makeFixture: () => Promise<StoreFixture>): void {
  const cases = {
    ...values,
    ...writes,
    ...users,
    ...erasure,
    ...enqueue,
    ...history,
    ...reseal,
    ...instances,
  }
  for (const [name, run] of Object.entries(cases)) {
    test(name, () => runCase(run, makeFixture))
  }
}

async function runCase(run: ContractCase, makeFixture: () => Promise<StoreFixture>): Promise<void> {
  const fixture = await makeFixture()
  const stores: SettingsStore[] = []
  try {
    await run(async () => {
      const store = fixture.create()
      stores.push(store)
      await store.open({ log: silentLog })
      return store
    })
  } finally {
    for (const store of stores) await store.close()
    await fixture.dispose?.()
  }
}
