/** Optional: violations of constraints become conflicts, after `mapDatabaseConflicts(app.problems)`. */
import { safeRead } from '@fastify-modular/core/internal'
import { ConflictException } from '@fastify-modular/core'
import type { Problems } from './problems.ts'

// PostgreSQL (class 23), better-sqlite3 (names) and node:sqlite (extended result codes).
const unique: ReadonlySet<unknown> = new Set([
  '23505',
  'SQLITE_CONSTRAINT_UNIQUE',
  'SQLITE_CONSTRAINT_PRIMARYKEY',
  2067,
  1555,
])
const foreignKey: ReadonlySet<unknown> = new Set(['23503', 'SQLITE_CONSTRAINT_FOREIGNKEY', 787])

/** Whether PostgreSQL or SQLite refused a row because its key is taken; also inside an error of the query builder. */
export function isUniqueViolation(error: unknown): boolean {
  return carries(error, unique)
}

/** Whether PostgreSQL or SQLite refused a row because of one that it refers to, or that refers to it. */
export function isForeignKeyViolation(error: unknown): boolean {
  return carries(error, foreignKey)
}

/** Answers both by 409 with a constant text; the driver's message names tables and values. */
export function mapDatabaseConflicts(problems: Problems): Problems {
  return problems
    .map(isUniqueViolation, { to: () => new ConflictException('A record with this key already exists.') })
    .map(isForeignKeyViolation, {
      to: () => new ConflictException('A related record is missing or still in use.'),
    })
}

/** drizzle and others wrap the driver's error as `cause`. */
function carries(error: unknown, codes: ReadonlySet<unknown>): boolean {
  for (let depth = 0, current = error; depth < 3 && current; depth++, current = safeRead(current, 'cause')) {
    if (codes.has(safeRead(current, 'code')) || codes.has(safeRead(current, 'errcode'))) return true
  }
  return false
}
