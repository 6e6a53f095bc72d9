/** What the cases of the store contract share. */
import assert from 'node:assert/strict'
import { type OwnedScope, SettingScope } from '#src/setting-definition.js'
import { ownerOf } from '#src/store/plan-write.js'
import type {
  Owner,
  RowChange,
  RowId,
  StorePort,
  StoredRow,
  TrimLimits,
  WriteRequest,
  WriteResult,
} from '#src/store/store.js'

/** One behaviour that every store has, of one that is open on an empty database. It fails by throwing. */
export type ContractCase = (store: StorePort, more: CaseContext) => Promise<void>

interface CaseContext {
  /** Opens one more instance on the same database; it is closed when the case ends. */
  readonly open: () => Promise<StorePort>
  readonly until: Until
}

/** Waits until something is true. @throws when it takes longer than the case may, with the state where one is given */
export type Until = (
  what: string,
  isTrue: () => boolean | Promise<boolean>,
  state?: () => unknown,
) => Promise<void>

/** Names a row; without an owner it belongs to Application scope. */
export function rowId(key: string, owner = '', scope: OwnedScope = SettingScope.User): RowId {
  return { scope: owner === '' ? SettingScope.Application : scope, owner, key }
}

/** Names a user. */
export function user(id: string): Owner {
  return { scope: SettingScope.User, id }
}

const namesakes = ['u1', 'u2']

/** The case while owners of the other scope have the same ids: what is theirs stays as it is. */
export function besideNamesakes(scope: OwnedScope, run: ContractCase): ContractCase {
  const other = scope === SettingScope.User ? SettingScope.Tenant : SettingScope.User
  const read = (store: StorePort) =>
    Promise.all(
      namesakes.map(async (owner) => [
        await store.owned.read({ scope: other, id: owner }),
        await store.history({ scope: other, owner, limit: 10 }),
      ]),
    )
  return async (store, more) => {
    for (const id of namesakes)
      for (const value of ['0', '"of a namesake"']) await set(store, rowId('a', id, other), value)
    const before = await read(store)
    await run(store, more)
    assert.deepEqual(await read(store), before)
  }
}

/** A change of one row; `null` deletes it. */
export function change(id: RowId, value: string | null, encrypted = false): RowChange {
  return { ...id, value, encrypted }
}

/** Writes these changes, whatever the rows hold now; those of an owner if it reads a row of one. */
export function writeAll(
  store: StorePort,
  changes: readonly RowChange[],
  more: Partial<WriteRequest> = {},
): Promise<WriteResult> {
  const request = { actor: 'tester', origin: 'contract', reads: changes, decide: () => changes, ...more }
  const [owner] = request.reads.flatMap((id) => ownerOf(id) ?? [])
  return owner ? store.owned.write(owner, request) : store.shared.write(request)
}

/** One row, as the database has it now. */
export async function rowOf(store: StorePort, id: RowId): Promise<StoredRow | undefined> {
  const owner = ownerOf(id)
  const rows = owner ? await store.owned.read(owner) : (await store.shared.read()).rows
  return rows.find(({ scope, key }) => scope === id.scope && key === id.key)
}

/** Writes one value into these rows, at once; a key names a row of Application scope. */
export function set(
  store: StorePort,
  ids: string | RowId | readonly RowId[],
  value: string | null,
): Promise<WriteResult> {
  const rows = typeof ids === 'string' ? [rowId(ids)] : [ids].flat()
  return writeAll(
    store,
    rows.map((id) => change(id, value)),
  )
}

/** The number of the last write of System and Application values. */
export async function revisionOf(store: StorePort): Promise<number> {
  return (await store.shared.news(0, 0)).revision
}

/** All rows, page by page. */
export async function pages<T>(
  scan: (after: T | null, limit: number) => Promise<readonly T[]>,
  limit: number,
): Promise<readonly T[]> {
  const rows: T[] = []
  for (let after: T | null = null; ; after = rows.at(-1) ?? null) {
    const page = await scan(after, limit)
    assert.ok(page.length <= limit && rows.length < 100)
    if (page.length === 0) return rows
    rows.push(...page)
  }
}

/** The first 500 values and entries of history as one text. */
export async function everything(store: StorePort): Promise<string> {
  return JSON.stringify([await store.scan.values(null, 500), await store.scan.history(null, 500)])
}

/** Trims, portion by portion. Returns how many entries each one removed. */
export async function trimAll(
  store: StorePort,
  { olderThan = 0, perValue = Number.MAX_SAFE_INTEGER }: Partial<TrimLimits>,
): Promise<readonly number[]> {
  const portions: number[] = []
  for (let isDone = false; !isDone;) {
    const taken = await store.trim({ olderThan, perValue })
    portions.push(taken.removed)
    isDone = taken.isDone
    assert.ok(portions.length < 100, 'trimming has an end')
  }
  return portions
}

/** @throws {AssertionError} a number is not greater than the one before it */
export function assertRising(numbers: readonly number[]): void {
  assert.ok(
    numbers.every((number, index) => number > (numbers[index - 1] ?? 0)),
    `rising: ${numbers.join(', ')}`,
  )
}

/** Waits until what was written is of the past: trimming leaves the present millisecond to the next portion. */
export async function nextMillisecond(until: Until): Promise<void> {
  const start = Date.now()
  await until('the next millisecond', () => Date.now() > start)
}

/**
 * The history of an owner's values: each entry begins with what the one before it left, the first one with nothing,
 * versions rise, and the last one is the row.
 * @throws {AssertionError}
 */
export async function replays(store: StorePort, owner: Owner): Promise<void> {
  const { scope, id } = owner
  const history = (await store.history({ scope, owner: id, limit: 500 })).toReversed()
  const rows = await store.owned.read(owner)
  for (const key of new Set([...rows, ...history].map((row) => row.key))) {
    const entries = history.filter((entry) => entry.key === key)
    assertRising(entries.map(({ revision }) => revision))
    let before: string | null = null
    for (const entry of entries) {
      const { oldValue, newValue } = entry
      assert.deepEqual(ownerOf(entry), owner)
      assert.equal(oldValue, before)
      before = newValue
    }
    assert.equal(rows.find((row) => row.key === key)?.value ?? null, before)
  }
}

/** `patience` in milliseconds, counted from now, is for all waits together. */
export function waitingAtMost(patience: number): Until {
  const end = Date.now() + patience
  return async (what, isTrue, state) => {
    while (!(await isTrue())) {
      if (Date.now() > end)
        throw new Error(`waited ${patience} ms for ${what}: ${JSON.stringify(await state?.())}`)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
}

/** The same for tests of this package, which give each wait a minute. */
export const until: Until = (...wait) => waitingAtMost(60_000)(...wait)

export { silentLog } from '#src/testing/fake-settings.js'
