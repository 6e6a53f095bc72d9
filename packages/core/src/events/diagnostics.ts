/** What happens to events, for tracing and metrics: `node:diagnostics_channel` and counters. */
import { channel } from 'node:diagnostics_channel'

/** What each diagnostics channel carries: names and ids, never payloads. */
export interface EventDiagnostic {
  readonly type: string
  readonly eventId: string
  /** The handler concerned; absent when published. */
  readonly handler?: string
  readonly error?: unknown
}

const channels = {
  published: channel('fastify-modular:events:published'),
  handled: channel('fastify-modular:events:handled'),
  failed: channel('fastify-modular:events:failed'),
  deadLettered: channel('fastify-modular:events:dead-lettered'),
}

/** Counts of this process since it started. */
export type EventCounts = { [K in keyof typeof channels]: number }

/** Counts and announces one stage of an event's life. */
export type Announce = (stage: keyof typeof channels, diagnostic: EventDiagnostic) => void

/** An announcer with the counts it keeps. */
export function createAnnouncer(): { readonly counts: EventCounts; readonly announce: Announce } {
  const counts: EventCounts = { published: 0, handled: 0, failed: 0, deadLettered: 0 }
  return {
    counts,
    announce(stage, diagnostic) {
      counts[stage]++
      if (channels[stage].hasSubscribers) channels[stage].publish(diagnostic)
    },
  }
}
