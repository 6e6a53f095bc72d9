/** Tells a database that cannot answer from a mistake in the code. */
import { isDomainException, ServiceUnavailableException } from '@fastify-modular/core'
import { DrizzleQueryError } from 'drizzle-orm'

/**
 * What a caller of the store gets for an error of the driver: 503, except for misuse, and for statements that PostgreSQL
 * understood and refused (SQLSTATE classes 22, 23 and 42), which are a defect. Neither shows a stored value or the
 * connection string.
 */
export function toStoreFailure(error: unknown): unknown {
  if (isDomainException(error)) return error
  // drizzle puts the parameters into its message: they are stored values.
  const cause = error instanceof DrizzleQueryError ? error.cause : error
  if (!(cause instanceof Error)) return cause
  for (const member of tellTales) Reflect.deleteProperty(cause, member)
  const code = 'code' in cause ? String(cause.code) : ''
  if (/^((22|23|42)[0-9A-Z]{3}|FMOD_.*)$/.test(code)) return cause
  const reason = [code || cause.message, addressOf(cause)].join(' ').trim()
  // The text of a trigger of yours may quote the row.
  const told = code === 'P0001' ? undefined : cause
  return new ServiceUnavailableException(
    `The PostgreSQL database of the settings cannot answer (${reason}).`,
    1,
    told,
  )
}

/** The host and port that could not be reached, where the error names them; an error for each address of a name has several. */
function addressOf(error: object): string {
  if (error instanceof AggregateError) return [...new Set(error.errors.map(addressOf))].join(', ')
  const { address, port, hostname } = error as { address?: string; port?: number; hostname?: string }
  if (address === undefined) return hostname ?? ''
  return port === undefined ? address : `${address}:${port}`
}

/** Waits for a statement of ours. @throws what `toStoreFailure` makes of its error */
export async function orStoreFailure<T>(statement: PromiseLike<T>): Promise<T> {
  try {
    return await statement
  } catch (error) {
    throw toStoreFailure(error)
  }
}

/** Members of PostgreSQL's errors that quote rows and parameters, and of Node's that quote a URL. */
const tellTales = ['detail', 'where', 'internalQuery', 'input']
