import { test } from 'tap'
import { Cluster } from '#src/events/pg-boss/cluster.js'
import type { Boss, PgPool } from '#src/events/pg-boss/database.js'
import { Queue } from '#src/events/pg-boss/queue.js'
import { NoteShared } from './fixtures/events.js'

test('events and dead letters wait ten years in pg-boss', async (t) => {
  const given: object[] = []
  const record = async (_name: string, options: object) => void given.push(options)
  const boss = { createQueue: record, updateQueue: record, subscribe: async () => {} } as unknown as Boss
  const pool = { query: async () => ({ rows: [] }) } as unknown as PgPool
  const cluster = new Cluster(pool, 'pgboss', 10_000)
  const queue = new Queue({ boss, pool, schema: 'pgboss', cluster, handlers: new Map() })
  await queue.createDeadLetterQueue()
  const handler = { name: 'notes.SharedHandler', event: NoteShared, handle: () => {} }
  await queue.subscribe(handler, { maxAttempts: 8, retryDelay: 1000, attemptTimeout: 60_000 })

  t.equal(given.length, 3)
  for (const options of given) t.match(options, { retentionMinutes: 3650 * 24 * 60 })
})
