/** Looks at the database for readers who know of a later revision than this instance. */
import timers from 'node:timers/promises'
import { ServiceUnavailableException } from '@fastify-modular/core'
import type { FastifyRequest } from 'fastify'
import type { Parts } from '../parts.ts'
import { revisionOf } from './audience.ts'

/** Milliseconds from a look at the database for strangers to the next one. */
const lookInterval = 1000

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
