/** Waits for what another process or a server does: there is no event to wait for. */
import { setTimeout as delay } from 'node:timers/promises'

/** Milliseconds between two questions: most things are so at once, and asking for the others takes CPU time of what they wait for. */
const pauses = { first: 5, longest: 40 }

/** Waits until something is the case. @throws {Error} it was not within two minutes */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 120_000
  for (let pause = pauses.first; !(await isSo()); pause = Math.min(pause * 1.5, pauses.longest)) {
    if (Date.now() > end) throw new Error(`it was not so within two minutes: ${String(isSo)}`)
    await delay(pause)
  }
}
