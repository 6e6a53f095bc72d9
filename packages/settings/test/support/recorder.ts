/** Events that a test looks at. */
import type { DomainEvent, Tx } from '@fastify-modular/core'
import type { EventTransport } from '@fastify-modular/core/internal'

/** A transport that remembers what was published, and whether it was within a transaction. */
export function recorder(transactional: EventTransport['transactional'] = false) {
  const published: { event: DomainEvent; tx: Tx | undefined }[] = []
  const transport: EventTransport = {
    name: 'recorder',
    transactional,
    open: () => {},
    subscribe: () => {},
    start: () => {},
    verify: () => true,
    publish: (event, { tx }) => void published.push({ event, tx }),
    drain: () => {},
    close: async () => {},
  }
  return { published, transport }
}
