/** Waits for what another process or a server does: there is no event to wait for. */
import { setTimeout as delay } from 'node:timers/promises'

/** Waits until something is the case. @throws {Error} it was not within two minutes */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 120_000; !(await isSo()); await delay(5)) {
    if (Date.now() > end) throw new Error(`it was not so within two minutes: ${String(isSo)}`)
  }
}
