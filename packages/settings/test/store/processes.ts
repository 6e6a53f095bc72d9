/** Tests with real processes on one database, some of them killed; the same for each kind of database. */
import assert from 'node:assert/strict'
import { spawnNode, type SpawnedProcess } from '@fastify-modular/test-support/spawn-app'
import { silentLog } from '../contract/case.ts'
import type { HistoryRow, StorePort } from '#src/store/store.js'
import { storeOf, type WriterPlan } from './writer.js'

/** Starts a process that writes. */
export function startWriter(plan: Partial<WriterPlan> & { readonly database: string }): SpawnedProcess {
  const complete = { author: 'writer', bulks: 1, rows: 10, parallel: 1, ...plan }
  return spawnNode(new URL('./writer.js', import.meta.url), {
    args: [JSON.stringify(complete)],
  })
}

/** The revisions that were acknowledged to a process. */
export function acknowledged(writer: SpawnedProcess): number[] {
  // The line that was being printed when the process was killed may be cut.
  return [...writer.log().matchAll(/^ack (\d+)\n/gm)].map((match) => Number(match[1]))
}

/** Waits for the end of processes that are expected to succeed. */
export async function succeed(writers: readonly SpawnedProcess[]): Promise<void> {
  for (const writer of writers) {
    const { code } = await writer.exited
    assert.equal(code, 0, writer.log())
  }
}

/**
 * Asserts that the database holds whole bulks only, one per revision without gaps, all that were acknowledged, and that
 * the values are those of the history. Answers the revision.
 */
export async function verify(database: string, rows: number, acks: readonly number[]): Promise<number> {
  const store = storeOf(database)
  await store.open({ log: silentLog })
  try {
    // The server may still be committing for a client that was killed; the next writer that gets the lock sees the end.
    await store.shared.write({ actor: null, origin: 'api', reads: [], decide: () => [] })
    const { revision, rows: values } = await store.shared.read()
    const byRevision = await historyByRevision(store)
    assert.deepEqual(
      [...byRevision.keys()].toSorted((a, b) => a - b),
      Array.from({ length: revision }, (_, index) => index + 1),
    )
    for (const [number, bulk] of byRevision) {
      assert.equal(bulk.length, rows, `revision ${number} is half a bulk`)
      assert.equal(new Set(bulk.map((row) => row.newValue)).size, 1)
    }
    for (const ack of acks) assert.ok(byRevision.has(ack), `revision ${ack} was acknowledged and is gone`)
    const last = byRevision.get(revision)
    for (const row of values) assert.deepEqual([row.value, row.revision], [last?.[0]?.newValue, revision])
    assert.equal(new Set(acks).size, acks.length)
    return revision
  } finally {
    await store.close()
  }
}

async function historyByRevision(store: StorePort): Promise<Map<number, HistoryRow[]>> {
  const byRevision = new Map<number, HistoryRow[]>()
  for (const row of await store.history({ limit: 1_000_000 })) {
    const bulk = byRevision.get(row.revision)
    if (bulk) bulk.push(row)
    else byRevision.set(row.revision, [row])
  }
  return byRevision
}
