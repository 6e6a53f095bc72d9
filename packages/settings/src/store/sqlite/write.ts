/** One write in SQLite, from the lock to the commit. */
import { ServiceUnavailableException, type SyncTx } from '@fastify-modular/core'
import type { Statement } from 'better-sqlite3'
import {
  FMOD_SETTINGS_ENQUEUE_NOT_SYNC,
  FMOD_SETTINGS_TRANSACTION_ENDED,
  FMOD_SETTINGS_TRANSACTION_OPEN,
} from '../../misuse-errors.ts'
import { historyOf, planWrite } from '../plan-write.ts'
import type { ResealRequest, WriteRequest, WriteResult } from '../store.ts'
import { TrimTurns } from '../trim-turns.ts'
import type { Connection } from './connection.ts'

/**
 * Makes the function that writes. It takes the lock of the file first (`immediate`): a transaction that reads before it
 * writes would otherwise fail whenever another process wrote in between, whatever the time-out.
 * @throws {FMOD_SETTINGS_TRANSACTION_OPEN} the caller's connection is inside a transaction of its own
 * @throws {ServiceUnavailableException} the file is no longer where its path leads to
 */
export function createWrite(connection: Connection): (request: WriteRequest) => WriteResult {
  const { client, file } = connection
  const turns = new TrimTurns()
  const transaction = client.transaction((request: WriteRequest) => {
    const result = writeLocked(connection, turns, request)
    // Last, because what is acknowledged must be found again.
    if (file.isReplaced()) throw toReplacedFailure()
    return result
  })
  return (request) => {
    // better-sqlite3 would open a savepoint, and the caller could still undo what we acknowledge.
    if (client.inTransaction) throw new FMOD_SETTINGS_TRANSACTION_OPEN()
    return transaction.immediate(request)
  }
}

/** What callers get while the path leads to another file, or to none. */
export function toReplacedFailure(): Error {
  const message = 'The SQLite database of the settings cannot answer (its file was replaced or removed).'
  return new ServiceUnavailableException(message, 1)
}

function writeLocked(connection: Connection, turns: TrimTurns, request: WriteRequest): WriteResult {
  const { reads, writes } = connection
  const current = request.reads.flatMap((id) => reads.row(id) ?? [])
  const result = planWrite(request, reads.revision(), current)
  if (result.changes.length === 0) return result
  writes.save(result.changes.flatMap(({ after }) => after ?? []))
  for (const change of result.changes) {
    if (!change.after) writes.delete(change)
    writes.addHistory(historyOf(change, request, result))
  }
  writes.saveRevision(result.revision)
  if (request.keepHistory !== undefined)
    for (const id of turns.due(result)) writes.trimHistory(id, request.keepHistory)
  enqueue(connection, request, result)
  return result
}

/**
 * Makes the function that replaces texts. Copies of them stay in free space of the file until it is vacuumed: with
 * `secure_delete`, too, for what SQLite moves between pages it does not overwrite.
 * @throws {FMOD_SETTINGS_TRANSACTION_OPEN} the caller's connection is inside a transaction of its own
 */
export function createReseal({ client, writes }: Connection): (request: ResealRequest) => number {
  const transaction = client.transaction((request: ResealRequest) => writes.reseal(request))
  return (request) => {
    if (client.inTransaction) throw new FMOD_SETTINGS_TRANSACTION_OPEN()
    return transaction.immediate(request)
  }
}

/** @throws {FMOD_SETTINGS_ENQUEUE_NOT_SYNC} what a promise writes later would escape the transaction */
function enqueue({ client }: Connection, request: WriteRequest, result: WriteResult): void {
  let isOpen = true
  const statements = new Map<string, Statement>() // a bulk enqueues hundreds of events with one statement
  const tx: SyncTx = {
    kind: 'sync',
    run(sql, params) {
      if (!isOpen) throw new FMOD_SETTINGS_TRANSACTION_ENDED()
      const statement = statements.get(sql) ?? client.prepare(sql)
      statements.set(sql, statement)
      statement.run(...params)
    },
  }
  const pending = request.enqueue?.(tx, result)
  isOpen = false // what is sent later would be written outside of the transaction
  if (!pending) return
  pending.catch(() => {}) // its own failure is of no interest any more
  throw new FMOD_SETTINGS_ENQUEUE_NOT_SYNC()
}
