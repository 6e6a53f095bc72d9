/** Events that a test looks at. */
import type { DomainEvent, EventsOptions, Tx } from '@fastify-modular/core'

type EventTransport = NonNullable<EventsOptions['transport']>
type Publish = (event: DomainEvent, options: { readonly tx?: Tx | undefined }) => void | Promise<void>

interface Recorder {
  readonly published: { event: DomainEvent; tx: Tx | undefined }[]
  readonly transport: EventTransport
}

/** A transport that remembers what was published, and whether it was within a transaction. */
export function recorder(
  transactional: EventTransport['transactional'] = false,
  publish?: Publish,
): Recorder {
  const published: Recorder['published'] = []
  const transport: EventTransport = {
    name: 'recorder',
    transactional,
    isOn: () => true,
    open: () => ({
      subscribe: () => {},
      start: () => {},
      publish: publish ?? ((event, { tx }) => void published.push({ event, tx })),
      drain: () => {},
      close: () => {},
    }),
  }
  return { published, transport }
}
