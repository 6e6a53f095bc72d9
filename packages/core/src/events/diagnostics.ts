/** What happens to events, for tracing and metrics: `node:diagnostics_channel` and counters. */
import { channel } from 'node:diagnostics_channel'

/** What each diagnostics channel carries: names and ids, never payloads. */
export interface EventDiagnostic {
  readonly type: string
  readonly eventId: string
  /** The handler concerned; absent when published, and where no handler has subscribed. */
  readonly handler?: string
  readonly error?: unknown
}

/** A counter of its own: `counts[name]++` would be a sixth of an event without a handler (bench/events.mjs). */
const createStage = (name: string) => ({ channel: channel(`fastify-modular:events:${name}`), count: 0 })

const createStages = () => ({
  published: createStage('published'),
  handled: createStage('handled'),
  failed: createStage('failed'),
  deadLettered: createStage('dead-lettered'),
  /** A durable transport has stored an event for nobody. */
  unsubscribed: createStage('unsubscribed'),
})

type Stage = keyof ReturnType<typeof createStages>

/** Counts of this process since it started. */
export type EventCounts = { [K in Stage]: number }

/** Counts and announces one stage of an event's life. */
export type Announce = (stage: Stage, diagnostic: EventDiagnostic) => void

/** An announcer, and what it has counted. */
export function createAnnouncer(): { readonly counts: () => EventCounts; readonly announce: Announce } {
  const stages = createStages()
  return {
    counts() {
      const { published, handled, failed, deadLettered, unsubscribed } = stages
      return {
        published: published.count,
        handled: handled.count,
        failed: failed.count,
        deadLettered: deadLettered.count,
        unsubscribed: unsubscribed.count,
      }
    },
    announce(name, diagnostic) {
      const stage = stages[name]
      stage.count++
      if (stage.channel.hasSubscribers) stage.channel.publish(diagnostic)
    },
  }
}
