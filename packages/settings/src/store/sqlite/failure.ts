/** Tells a database that cannot answer from a mistake in the code. */
import { ServiceUnavailableException } from '@fastify-modular/core'

/**
 * What a caller of the store gets for an error of SQLite: 503 when the database is locked, full, read-only, damaged or
 * gone; anything else as it is, for that is a defect or was thrown by the caller's own code.
 */
export function toStoreFailure(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (!unavailable.test(code)) return error
  return new ServiceUnavailableException(
    `The SQLite database of the settings cannot answer (${code}).`,
    1,
    error,
  )
}

const unavailable =
  /^SQLITE_(BUSY|LOCKED|FULL|READONLY|IOERR|CANTOPEN|CORRUPT|NOTADB|PROTOCOL|NOMEM|PERM|AUTH|NOLFS|SCHEMA)(_|$)/
