/** What foreign code throws, for logs and databases. Anything can be thrown: frozen errors, proxies, getters that throw. */
import type { FastifyBaseLogger } from 'fastify'

/** A failure as text, bounded; never throws, whatever was thrown. */
export function describeFailure(error: unknown): string {
  try {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    return text.slice(0, 500).toWellFormed()
  } catch {
    return 'unknown failure'
  }
}

/**
 * Logs a failure of foreign code. Never throws: a logger does when it is given a frozen error, and here nobody would
 * catch that, so that one handler's error would end the process.
 */
export function logFailure(
  log: FastifyBaseLogger,
  level: 'error' | 'warn',
  record: { readonly err: unknown; readonly [name: string]: unknown },
  message: string,
): void {
  try {
    log[level](record, message)
  } catch {
    try {
      log[level]({ ...record, err: { message: describeFailure(record.err) } }, message)
    } catch {
      // A logger that fails must not stop the delivery of events.
    }
  }
}
