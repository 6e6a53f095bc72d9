/** Events that a test looks at. */
import type { DomainEvent, EventsOptions, Tx } from '@fastify-modular/core'

type EventTransport = NonNullable<EventsOptions['transport']>

interface Recorder {
  readonly published: { event: DomainEvent; tx: Tx | undefined }[]
  readonly transport: EventTransport
}

/** A transport that remembers what was published, and whether it was within a transaction. */
export function recorder(transactional: EventTransport['transactional'] = false): Recorder {
  const published: Recorder['published'] = []
  const transport: EventTransport = {
    name: 'recorder',
    transactional,
    open: () => {},
    subscribe: () => {},
    start: () => {},
    isOn: () => true,
    publish: (event, { tx }) => void published.push({ event, tx }),
    drain: () => {},
    close: async () => {},
  }
  return { published, transport }
}
