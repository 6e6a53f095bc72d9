import pg from 'pg'
import { test } from 'tap'
import type { Boss } from '#src/events/pg-boss/database.js'
import { Queue } from '#src/events/pg-boss/queue.js'
import { NoteShared } from './fixtures/events.js'

test('events and dead letters wait ten years in pg-boss, in the unit that each version reads', async (t) => {
  const given: object[] = []
  const record = async (_name: string, options: object) => void given.push(options)
  const boss = { createQueue: record, updateQueue: record, subscribe: async () => {} } as unknown as Boss
  const queue = new Queue({ boss, pool: new pg.Pool(), schema: 'pgboss', handlers: new Map() })
  await queue.createDeadLetterQueue()
  const handler = { name: 'notes.SharedHandler', event: NoteShared, handle: () => {} }
  await queue.subscribe(handler, { maxAttempts: 8, retryDelay: 1000, attemptTimeout: 60_000 })

  const years = 3650
  t.equal(given.length, 3)
  for (const options of given) {
    t.match(options, { retentionMinutes: years * 24 * 60 }, 'version 10')
    t.match(options, { retentionSeconds: years * 24 * 60 * 60 }, 'version 12')
  }
})
