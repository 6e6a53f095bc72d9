/** What the log says at boot about subscriptions that an earlier release left in the database. */
import type { FastifyBaseLogger } from 'fastify'
import { logFailure } from '../internal/failures.ts'
import type { EventHandler } from './handlers.ts'
import type { RemovedHandlers } from './transport.ts'

/** Names the handlers that events are kept for, although this process does not have them. Never rejects. */
export async function warnOfRemovedHandlers(removed: RemovedHandlers, log: FastifyBaseLogger): Promise<void> {
  try {
    const handlers = await removed.list()
    if (handlers.length > 0)
      log.warn({ handlers }, 'events are kept for handlers that this process does not have')
  } catch (err) {
    logFailure(log, 'error', { err }, 'removed event handlers cannot be listed')
  }
}

/** Names the event that a handler has had before. */
export function warnOfChangedHandler(
  { name, event }: EventHandler,
  formerType: string,
  log: FastifyBaseLogger,
): void {
  const record = { handler: name, event: event.type, formerEvent: formerType }
  log.warn(record, 'event handler has another event now; what waits of the former one becomes a dead letter')
}
