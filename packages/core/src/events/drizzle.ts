/** Publishes events within drizzle transactions: subpath `core/events/drizzle`, optional peer drizzle-orm. */
import { type SQL, sql } from 'drizzle-orm'
import { safeRead } from '../internal/safe.ts'
import { type AsyncTx, requireClient, requireOpen, type SyncTx } from './transport.ts'

/** A drizzle transaction on better-sqlite3. */
export interface SyncDrizzle {
  run(query: SQL): unknown
}

/** A drizzle transaction on node-postgres. */
export interface AsyncDrizzle {
  execute(query: SQL): Promise<unknown>
}

/**
 * The drizzle transaction as the executor that `publish(event, { tx })` takes.
 * @throws {FMOD_CORE_INVALID_TRANSACTION} it is not a transaction, but for example a drizzle database on a pool
 */
export function drizzleTx(tx: AsyncDrizzle): AsyncTx
export function drizzleTx(tx: SyncDrizzle): SyncTx
export function drizzleTx(tx: SyncDrizzle | AsyncDrizzle): SyncTx | AsyncTx {
  const method = safeRead(tx, 'execute') === undefined ? 'run' : 'execute'
  requireClient(tx, method, 'drizzleTx takes a transaction of drizzle, and no database on a pool')
  if ('execute' in tx) {
    return {
      kind: 'async',
      async query(text, params) {
        const result = await tx.execute(bind(text, /\$\d+/g, (mark) => params[Number(mark.slice(1)) - 1]))
        return result as { rows: unknown[] }
      },
    }
  }
  const run: SyncTx['run'] = (text, params) => {
    requireOpen(safeRead(tx, '$client')) // a database has it, and a transaction does not
    tx.run(bind(text, /\?/g, (_, at) => params[at]))
  }
  return { kind: 'sync', run }
}

/** The statement with each placeholder as a bound parameter; our own statements hold no placeholder in a literal. */
function bind(text: string, placeholder: RegExp, valueOf: (mark: string, at: number) => unknown): SQL {
  const texts = text.split(placeholder)
  const values = (text.match(placeholder) ?? []).map(valueOf)
  const chunks = texts.flatMap((part, at) =>
    at < values.length ? [sql.raw(part), sql`${sql.param(values[at])}`] : [sql.raw(part)],
  )
  return sql.join(chunks)
}
