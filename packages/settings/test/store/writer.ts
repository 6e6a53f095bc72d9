/**
 * A process that opens a store and writes bulks, until it has written all, is told to end by SIGTERM, or is killed. It
 * prints `open`, then `ack <revision>` for each write that was acknowledged, `down` when the database could not answer,
 * and `done`.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { isDomainException } from '@fastify-modular/core'
import { silentLog } from '../contract/case.ts'
import type { RowChange, StorePort, WriteResult } from '#src/store/store.js'
import { sqlite, postgres } from '../support/stores.js'

/** The command line of a writer. */
export interface WriterPlan {
  /** A file, or a URL of PostgreSQL. */
  readonly database: string
  readonly author: string
  readonly bulks: number
  readonly rows: number
  /** How many bulks are under way at once. */
  readonly parallel: number
}

/** A store on this database. */
export function storeOf(database: string): StorePort {
  return database.startsWith('postgres:')
    ? postgres({ connectionString: database })
    : sqlite({ file: database })
}

const argument = process.argv[2]
if (process.argv[1] === import.meta.filename && argument !== undefined) void main(JSON.parse(argument))

async function main(plan: WriterPlan): Promise<void> {
  const store = storeOf(plan.database)
  await store.open({ log: silentLog })
  process.stdout.write('open\n')
  const ending = new AbortController()
  process.once('SIGTERM', () => ending.abort())
  for (let next = 0; next < plan.bulks && !ending.signal.aborted; next += plan.parallel) {
    await Promise.all(
      Array.from({ length: plan.parallel }, (_, index) => writeUntilItWorks(store, plan, next + index)),
    )
  }
  await store.close()
  process.stdout.write('done\n')
}

async function writeUntilItWorks(store: StorePort, plan: WriterPlan, bulk: number): Promise<void> {
  for (let attempt = 0, end = Date.now() + 60_000; Date.now() < end; attempt++) {
    try {
      const { revision } = await write(store, plan, `"${plan.author} ${bulk} ${attempt}"`)
      process.stdout.write(`ack ${revision}\n`) // a pipe is written at once: what the parent read was acknowledged
      return
    } catch (error) {
      if (!isDomainException(error) || error.statusCode !== 503) throw error
      process.stdout.write('down\n')
      await sleep(20)
    }
  }
  throw new Error('the database did not come back')
}

/** The same rows for every writer, in an order of its own: writers that lock rows in that order would deadlock. */
function write(store: StorePort, plan: WriterPlan, value: string): Promise<WriteResult> {
  const changes: RowChange[] = Array.from({ length: plan.rows }, (_, index) => ({
    scope: 1,
    owner: '',
    key: `key.${index}`,
    value,
    encrypted: false,
  }))
  changes.sort(() => Math.random() - 0.5)
  return store.shared.write({ actor: plan.author, origin: 'api', reads: changes, decide: () => changes })
}
