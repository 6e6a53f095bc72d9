/** What a page shows, awaited: it draws after an answer, after a frame, or when a busy machine comes to it. */
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'

/** The assertions of a test that decide; tap's `t` has them. */
interface Assertions {
  match(found: unknown, wanted: RegExp, message: string, extra: object): unknown
  strictSame(found: unknown, wanted: unknown, message: string, extra: object): unknown
}

/** Milliseconds that a busy machine may take to show it. A test that fails takes as long. */
const patience = 30_000

/**
 * Asks until the answer is the one that is wanted, or matches it. Fails with the last answer after 30 s.
 * What must not have happened is no matter for this: look at it once, after an event that would have brought it.
 */
export async function shows(
  t: Assertions,
  ask: () => Promise<unknown>,
  wanted: unknown,
  message = wanted instanceof RegExp ? 'matches' : 'is as wanted',
): Promise<void> {
  const caller: { stack?: string } = {} // the line of the test, which is not on the stack after a wait
  Error.captureStackTrace(caller, shows)
  const extra = { stack: String(caller.stack).replace(/^.*\n/, '') }
  const isRegExp = wanted instanceof RegExp
  const fits = (found: unknown) =>
    isRegExp ? wanted.test(String(found ?? '')) : isDeepStrictEqual(found, wanted)
  let found = await ask()
  for (const end = Date.now() + patience; !fits(found) && Date.now() < end; found = await ask())
    await delay(20)
  if (isRegExp) t.match(found, wanted, message, extra)
  else t.strictSame(found, wanted, message, extra)
}
