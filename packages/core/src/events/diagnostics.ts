/** What happens to events, for tracing and metrics: `node:diagnostics_channel` and counters. */
import { channel } from 'node:diagnostics_channel'

/** A message of the channel `fastify-modular:core`: what became of an event, by names and ids, never its payload. */
export interface EventDiagnostic {
  /** `unsubscribed`: a durable transport has stored an event for nobody. */
  readonly type: 'published' | 'handled' | 'failed' | 'deadLettered' | 'unsubscribed'
  /** The type of the event: `notes.published`. */
  readonly event: string
  readonly eventId: string
  /** The handler concerned; absent when published, and where no handler has subscribed. */
  readonly handler?: string
  readonly error?: unknown
}

/** Counts of this process since it started. */
export type EventCounts = { [Type in EventDiagnostic['type']]: number }

/** Counts and announces one stage of an event's life. */
export type Announce = (type: EventDiagnostic['type'], diagnostic: Omit<EventDiagnostic, 'type'>) => void

const diagnostics = channel('fastify-modular:core')

/** An announcer, and what it has counted. */
export function createAnnouncer(): { readonly counts: () => EventCounts; readonly announce: Announce } {
  /** Objects of their own: `counts[type]++` would be a sixth of an event without a handler (bench/events.mjs). */
  const counters = {
    published: { count: 0 },
    handled: { count: 0 },
    failed: { count: 0 },
    deadLettered: { count: 0 },
    unsubscribed: { count: 0 },
  }
  return {
    counts: () => ({
      published: counters.published.count,
      handled: counters.handled.count,
      failed: counters.failed.count,
      deadLettered: counters.deadLettered.count,
      unsubscribed: counters.unsubscribed.count,
    }),
    announce(type, diagnostic) {
      counters[type].count++
      if (diagnostics.hasSubscribers) diagnostics.publish({ type, ...diagnostic })
    },
  }
}
