/** Reads whole tables in portions; for `rewrap()` and `orphans()`. */
import { setImmediate } from 'node:timers/promises'

/**
 * Yields page after page until one is empty; `read` returns the rows after the one that it gets. Between two pages the
 * event loop makes a turn: requests would wait for a synchronous store otherwise.
 */
export async function* pages<T>(
  read: (after: T | null) => Promise<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  for (let rows = await read(null), last = rows.at(-1); last; rows = await read(last), last = rows.at(-1)) {
    yield rows
    await setImmediate()
  }
}
