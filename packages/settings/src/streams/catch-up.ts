/** What a stream waits for before it opens: a look at the database, and whether it is to open by then. */
import timers from 'node:timers/promises'
import { ServiceUnavailableException } from '@fastify-modular/core'
import type { FastifyRequest } from 'fastify'
import type { Parts } from '../parts.ts'
import { revisionOf } from './audience.ts'

/** Milliseconds from a look at the database for strangers to the next one. */
const lookInterval = 1000

/** Looks at the database for readers who know of a later revision than this instance. */
export class CatchUp {
  readonly #parts: Pick<Parts, 'sharedValues' | 'coherence'>
  readonly #closing: AbortSignal
  /** The next look at the database for strangers, which has not begun. */
  #look: Promise<void> | undefined
  #mayLook: Promise<void> = Promise.resolve()

  constructor(parts: Pick<Parts, 'sharedValues' | 'coherence'>, closing: AbortSignal) {
    this.#parts = parts
    this.#closing = closing
  }

  /**
   * Looks at the database where a reader knows of a later revision; undefined where nobody has to wait.
   * @throws {ServiceUnavailableException} it does not answer
   */
  reach({ headers }: FastifyRequest, callerId: string | null): Promise<void> | undefined {
    const known = headers['last-event-id']
    const revision = known === undefined ? 0 : revisionOf(String(known))
    return revision > this.#parts.sharedValues.revision ? this.#catchUp(revision, callerId) : undefined
  }

  async #catchUp(revision: number, callerId: string | null): Promise<void> {
    const { coherence, sharedValues } = this.#parts
    await (callerId === null ? this.#lookForStrangers() : coherence.catchUp())
    if (revision > sharedValues.revision && coherence.status.state === 'stale')
      throw new ServiceUnavailableException('The settings database does not answer.', 5)
  }

  /** Strangers can make up what they know: all who come within a second of a look share the next one. */
  #lookForStrangers(): Promise<void> {
    return (this.#look ??= this.#mayLook.then(() => {
      this.#look = undefined
      this.#mayLook = timers.setTimeout(lookInterval, undefined, { signal: this.#closing }).catch(() => {})
      return this.#parts.coherence.catchUp()
    }))
  }
}

/** A stream that is about to open. */
export interface Opening {
  readonly callerId: string | null
  /** Whether the streams of the caller have been ended meanwhile. */
  isEnded: boolean
}

/** The streams that are about to open. What the host said of their callers may not hold any more when they do. */
export class Openings {
  readonly #all = new Set<Opening>()

  /** Runs what opens a stream. */
  async during(callerId: string | null, open: (opening: Opening) => Promise<void>): Promise<void> {
    const opening = { callerId, isEnded: false }
    this.#all.add(opening)
    try {
      await open(opening)
    } finally {
      this.#all.delete(opening)
    }
  }

  /** Streams of the caller were ended: those that are about to open end at once. */
  end(callerId: string): void {
    for (const opening of this.#all) if (opening.callerId === callerId) opening.isEnded = true
  }
}
