/** Counts how writes end. */
import { isDomainException } from '@fastify-modular/core'
import type { Observer } from '../events/observer.ts'
import type { Write } from './write.ts'

/** The same write; what it commits is counted where memory takes it. */
export function observeWrite(write: Write, observer: Pick<Observer, 'count'>): Write {
  return async function observedWrite(entries, options, settings) {
    let isStale = false
    const onStale: typeof settings.onStale = (stale) => {
      isStale = true
      return settings.onStale(stale)
    }
    try {
      return await write(entries, options, { ...settings, onStale })
    } catch (error) {
      observer.count(isStale ? 'conflicts' : isRefusal(error) ? 'refusals' : 'failures')
      throw error
    }
  }
}

/** Whether the writer could have known: the values break their definitions, or the host locked them. */
function isRefusal(error: unknown): boolean {
  return isDomainException(error) && error.statusCode < 500
}
