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

type Stage = keyof typeof channels

/** Counts of this process since it started. */
export type EventCounts = { [K in Stage]: number }

/** Counts and announces one stage of an event's life. */
export type Announce = (stage: Stage, diagnostic: EventDiagnostic) => void

/** An announcer, and what it has counted. */
export function createAnnouncer(): { readonly counts: () => EventCounts; readonly announce: Announce } {
  // Counters of their own: `counts[stage]++` would be a sixth of an event without a handler (bench/events.mjs).
  const stages = {
    published: { channel: channels.published, count: 0 },
    handled: { channel: channels.handled, count: 0 },
    failed: { channel: channels.failed, count: 0 },
    deadLettered: { channel: channels.deadLettered, count: 0 },
  }
  const { published, handled, failed, deadLettered } = stages
  return {
    counts: () => ({
      published: published.count,
      handled: handled.count,
      failed: failed.count,
      deadLettered: deadLettered.count,
    }),
    announce(name, diagnostic) {
      const stage = stages[name]
      stage.count++
      if (stage.channel.hasSubscribers) stage.channel.publish(diagnostic)
    },
  }
}
