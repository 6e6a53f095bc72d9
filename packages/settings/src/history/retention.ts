/** Forgets old history once a day, so that it does not grow for ever. */
import type { FastifyBaseLogger } from 'fastify'
import type { SettingsStore } from '../store/store.ts'

/** Entries that stay of each value; writes trim what is beyond. */
export const defaultPerValue = 100
const day = 24 * 60 * 60 * 1000

/** Begins at once; returns the function that ends it. The timer keeps no process alive. */
export function startRetention(
  store: SettingsStore,
  { days = 400, perValue = defaultPerValue }: { readonly days?: number; readonly perValue?: number },
  log: FastifyBaseLogger,
): () => Promise<void> {
  let running = Promise.resolve()

  function prune(): void {
    running = pruneOnce()
  }

  async function pruneOnce(): Promise<void> {
    try {
      const rows = await store.pruneHistory({ olderThan: Date.now() - days * day, perValue })
      if (rows > 0) log.info({ rows }, 'old settings history was removed')
    } catch (err) {
      log.warn({ err }, 'old settings history could not be removed; trying again tomorrow')
    }
  }

  prune()
  const timer = setInterval(prune, day).unref()
  return async () => {
    clearInterval(timer)
    await running
  }
}
