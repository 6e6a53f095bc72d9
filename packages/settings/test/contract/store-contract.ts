/** The behaviour that every settings store has, as tests that a store of yours can run. */
import { withTimeout } from '@fastify-modular/core/internal'
import type { StorePort } from '#src/store/store.js'
import { type OwnedScope, SettingScope } from '#src/setting-definition.js'
import { besideNamesakes, type ContractCase, silentLog, waitingAtMost } from './case.ts'
import { enqueue } from './enqueue.ts'
import { erasure } from './erasure.ts'
import { history } from './history.ts'
import { instances } from './instances.ts'
import { owned } from './owned.ts'
import { reencrypt } from './reencrypt.ts'
import { values } from './values.ts'
import { windows } from './windows.ts'
import { writes } from './writes.ts'

/** An empty database for one test. */
export interface StoreFixture {
  /** A store on this database, not open yet. Each call makes one more, as another process has it. */
  create(): StorePort
  /** Removes the database. All stores are closed by then. */
  dispose?(): void | Promise<void>
}

/** Declares a test that fails by rejecting: `test` of tap, of node:test or of vitest. */
export type DeclareTest = (name: string, run: () => Promise<void>) => unknown

export interface StoreContractOptions {
  /**
   * How long one test may take, in milliseconds: below the time-out of the test runner, so that a failure says what was
   * waited for. Give more of both to a slow database.
   * @default 4000
   */
  readonly patience?: number
}

/**
 * Declares one test for each behaviour that the settings service relies on. Each gets a database of its own.
 * A store whose `transactional`, `durable` or `watch` says that it cannot do something passes the tests of it.
 *
 * @example storeContract(test, () => ({ create: () => myStore(url), dispose: () => drop(url) }))
 */
export function storeContract(
  test: DeclareTest,
  makeFixture: () => StoreFixture | Promise<StoreFixture>,
  { patience = 4000 }: StoreContractOptions = {},
): void {
  const cases = {
    ...values,
    ...writes,
    ...casesOf(SettingScope.User, 'of users: '),
    ...casesOf(SettingScope.Tenant, 'of tenants: '),
    ...erasure,
    ...enqueue,
    ...history,
    ...reencrypt,
    ...instances,
    ...windows,
  }
  for (const [name, run] of Object.entries(cases)) {
    test(name, async () => runCase(run, await makeFixture(), patience))
  }
}

function casesOf(scope: OwnedScope, prefix: string): Readonly<Record<string, ContractCase>> {
  const cases = Object.entries(owned(scope))
  return Object.fromEntries(cases.map(([name, run]) => [prefix + name, besideNamesakes(scope, run)]))
}

/** For closing the stores of a case, in milliseconds. */
const closing = 500

async function runCase(run: ContractCase, fixture: StoreFixture, patience: number): Promise<void> {
  const stores: StorePort[] = []
  const until = waitingAtMost(patience)
  const open = async () => {
    const store = fixture.create()
    stores.push(store)
    await store.open({ log: silentLog })
    return store
  }
  const hangs = () => {
    throw new Error(`a method of the store had not ended after ${patience + closing} ms`)
  }
  try {
    const running = open().then((store) => run(store, { open, until }))
    await withTimeout(running, patience + closing, hangs)
  } finally {
    for (const store of stores) await withTimeout(store.close(), closing, () => {})
    await fixture.dispose?.()
  }
}
