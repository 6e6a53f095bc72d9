/** The parts of pg and pg-boss that the transport uses, by structure: their types need not be installed. */
import type { BoundedConnections } from '../../internal/postgres.ts'
import { FMOD_CORE_PEER_MISSING } from '../../misuse-errors.ts'

/** One connection of a pg pool. */
export interface PgConnection {
  query(sql: string, params?: unknown[]): Promise<{ rows: unknown[] }>
  on(event: 'notification' | 'error' | 'end', listener: (detail: never) => void): unknown
  off(event: 'error', listener: () => void): unknown
  release(reason?: Error | boolean): void
}

/** A pg pool. */
export interface PgPool {
  connect(): Promise<PgConnection>
  query(sql: string, params?: unknown[]): Promise<{ rows: unknown[] }>
  on(event: 'error', listener: (error: Error) => void): unknown
  end(): Promise<void>
}

/** How pg-boss executes SQL, on its own or within a caller's transaction. */
export interface BossDb {
  executeSql(sql: string, params?: unknown[]): Promise<{ rows: unknown[] }>
}

/** A job as pg-boss hands it out with its metadata. */
export interface Job {
  readonly id: string
  readonly data: StoredEvent
  readonly retryCount: number
  readonly retryLimit: number
}

/** What a job carries. */
export interface StoredEvent {
  readonly eventId: string
  readonly type: string
  readonly handler: string
  readonly payload: unknown
}

/** A pg-boss instance, version 10 or 12. */
export interface Boss {
  on(event: 'error', listener: (error: unknown) => void): unknown
  start(): Promise<unknown>
  stop(options: { graceful: boolean; wait: boolean; close: boolean }): Promise<void>
  createQueue(name: string, options: object): Promise<unknown>
  updateQueue(name: string, options: object): Promise<unknown>
  subscribe(event: string, queue: string): Promise<unknown>
  send(queue: string, data: object, options: { db?: BossDb }): Promise<string | null>
  fetch(queue: string, options: { batchSize: number; includeMetadata: true }): Promise<readonly Job[]>
  complete(queue: string, ids: readonly string[]): Promise<unknown>
  fail(queue: string, id: string, data: object): Promise<unknown>
  deleteJob(queue: string, id: string, options?: { db?: BossDb }): Promise<unknown>
}

/** Makes a pg-boss instance. @throws {FMOD_CORE_PEER_MISSING} it is not installed */
export async function createBoss(options: object): Promise<Boss> {
  const module: { PgBoss?: unknown; default?: unknown } = await loadPeer('pg-boss', () => import('pg-boss'))
  const PgBoss = (module.PgBoss ?? module.default) as new (options: object) => Boss
  return new PgBoss(options)
}

/** Opens a pool with time-outs. @throws {FMOD_CORE_PEER_MISSING} pg is not installed */
export async function createPool(connectionString: string, connections: BoundedConnections): Promise<PgPool> {
  const { default: pg } = await loadPeer('pg', () => import('pg'))
  return new pg.Pool({ connectionString, max: 5, ...connections.poolConfig })
}

/** Imports an optional peer. @throws {FMOD_CORE_PEER_MISSING} the import fails */
export async function loadPeer<T>(peer: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    throw Object.assign(new FMOD_CORE_PEER_MISSING(peer), { cause })
  }
}
