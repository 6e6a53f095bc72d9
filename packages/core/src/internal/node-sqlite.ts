/** `node:sqlite` with the interface of better-sqlite3, as far as the SQLite outbox and the settings store use it. */
import process from 'node:process'
import { safeRead } from './safe.ts'

/** An open `DatabaseSync` of `node:sqlite` (Node 22.13 or newer), by structure: older types of Node do not know it. */
export interface NodeSqliteDatabase {
  /** Absent before Node 22.16. */
  readonly isTransaction?: boolean
  exec(sql: string): void
  prepare(sql: string): NodeSqliteStatement
  close(): void
}

interface NodeSqliteStatement {
  run(...params: unknown[]): { changes: number | bigint }
  get(...params: unknown[]): unknown
  all(...params: unknown[]): unknown[]
  /** Absent before Node 22.16. */
  setReturnArrays?(enabled: boolean): void
}

interface NodeSqliteModule {
  readonly DatabaseSync: new (file: string) => NodeSqliteDatabase
}

/** The built-in module; undefined where this Node has none, or hides it behind a flag. */
export function nodeSqlite(): NodeSqliteModule | undefined {
  return process.getBuiltinModule('node:sqlite') as NodeSqliteModule | undefined // types of Node 20 do not name it
}

export function isNodeSqlite(value: unknown): value is NodeSqliteDatabase {
  // Loading the module prints a warning of Node: not for connections of better-sqlite3.
  if (typeof safeRead(value, 'exec') !== 'function' || safeRead(value, 'pragma') !== undefined) return false
  const module = nodeSqlite()
  return module !== undefined && value instanceof module.DatabaseSync
}

type Params = unknown[]

interface Transaction<A extends Params, R> {
  (...args: A): R
  immediate(...args: A): R
}

/** A connection of `node:sqlite` that is used like one of better-sqlite3. It does not own the connection. */
export class NodeSqliteConnection {
  readonly #database: NodeSqliteDatabase
  readonly #file: string | undefined

  /** `file` is the path by which the connection was opened; without it SQLite's own, with links resolved, is the name. */
  constructor(database: NodeSqliteDatabase, file?: string) {
    this.#database = database
    this.#file = file
  }

  get open(): boolean {
    try {
      this.#database.exec('select 1')
      return true
    } catch {
      return false
    }
  }

  /** False for a closed connection, which has no path any more. */
  get memory(): boolean {
    return this.open && this.#path() === ''
  }

  get name(): string {
    return this.#file ?? (this.#path() || ':memory:')
  }

  get inTransaction(): boolean {
    const { isTransaction } = this.#database
    if (isTransaction !== undefined) return isTransaction
    try {
      this.#database.exec('begin; rollback') // takes no lock
      return false
    } catch {
      return true
    }
  }

  exec(sql: string): this {
    this.#database.exec(sql)
    return this
  }

  prepare(sql: string): Statement {
    return new Statement(this.#database, sql)
  }

  pragma(source: string, { simple = false } = {}): unknown {
    const rows = this.#database.prepare(`pragma ${source}`).all()
    return simple ? firstColumn(rows[0]) : rows
  }

  /** Like better-sqlite3's: takes the lock with its first write, by `immediate` at once; in an open transaction a savepoint. */
  transaction<A extends Params, R>(task: (...args: A) => R): Transaction<A, R> {
    const transact =
      (begin: string) =>
      (...args: A): R =>
        this.#transact(begin, () => task(...args))
    return Object.assign(transact('begin'), { immediate: transact('begin immediate') })
  }

  close(): void {
    this.#database.close()
  }

  #transact<R>(begin: string, task: () => R): R {
    const [start, commit, rollback] = this.inTransaction
      ? ['savepoint nested', 'release nested', 'rollback to nested; release nested']
      : [begin, 'commit', 'rollback']
    this.#database.exec(start)
    try {
      const result = task()
      this.#database.exec(commit)
      return result
    } catch (error) {
      if (this.inTransaction) this.#database.exec(rollback) // some failures, such as a full disk, have done it already
      throw error
    }
  }

  /** Empty for a database in memory. */
  #path(): string {
    const main = this.#database.prepare("select file from pragma_database_list where name = 'main'").get()
    return String(firstColumn(main) ?? '')
  }
}

/** A statement whose rows are objects; after `raw` arrays of the columns, after `pluck` the first column. */
class Statement {
  readonly #database: NodeSqliteDatabase
  readonly #sql: string
  #statement: NodeSqliteStatement
  #toRow: (row: unknown) => unknown = plain

  constructor(database: NodeSqliteDatabase, sql: string) {
    this.#database = database
    this.#sql = sql
    this.#statement = database.prepare(sql)
  }

  run(...params: Params): { changes: number } {
    return { changes: Number(this.#statement.run(...flat(params)).changes) }
  }

  get(...params: Params): unknown {
    const row = this.#statement.get(...flat(params))
    return row === undefined ? undefined : this.#toRow(row)
  }

  all(...params: Params): unknown[] {
    return this.#statement.all(...flat(params)).map(this.#toRow)
  }

  pluck(): this {
    this.#toRow = firstColumn
    return this
  }

  raw(): this {
    if (this.#toRow !== plain) return this
    // As objects, columns of one name would be one: as a table of its own, a query has distinct names.
    if (!this.#statement.setReturnArrays)
      this.#statement = this.#database.prepare(`select * from (${this.#sql})`)
    this.#statement.setReturnArrays?.(true)
    this.#toRow = (row) => (Array.isArray(row) ? row : Object.values(Object(row)))
    return this
  }
}

/** better-sqlite3 takes positional parameters one by one or as one list. */
function flat(params: Params): Params {
  return Array.isArray(params[0]) ? params[0] : params
}

/** Rows of `node:sqlite` have no prototype, those of better-sqlite3 are plain objects. */
function plain(row: unknown): object {
  return { ...Object(row) }
}

function firstColumn(row: unknown): unknown {
  return Object.values(Object(row))[0]
}

/** The name of SQLite's result code that an error carries, such as `SQLITE_BUSY`, whichever driver threw it; else ''. */
export function sqliteCodeOf(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return ''
  if (error.code !== 'ERR_SQLITE_ERROR') return String(error.code)
  const primary = 'errcode' in error ? Number(error.errcode) & 0xff : 0
  return `SQLITE_${resultCodes[primary] ?? 'ERROR'}`
}

/** https://www.sqlite.org/rescode.html, by number. */
const resultCodes =
  'OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN PROTOCOL EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB'.split(
    ' ',
  )
