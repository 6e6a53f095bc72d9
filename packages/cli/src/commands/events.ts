/** The commands `events dead-letters …`. */
import { type DeadLetters, NotFoundException } from '@fastify-modular/core'
import type { FastifyInstance } from 'fastify'
import { type CliCommand, UsageError } from '../command.ts'

/** How many dead letters are read. */
export const mostLetters = 500

export const eventsCommands: Readonly<Record<string, CliCommand>> = {
  'events dead-letters list': {
    summary: `events that no further attempt is made for, oldest first, ${mostLetters} at most`,
    async run(app) {
      const letters = await lettersOf(app).list(mostLetters)
      return {
        data: letters,
        rows: letters.map((letter) => ({ ...letter, failedAt: new Date(letter.failedAt).toISOString() })),
        columns: ['id', 'type', 'handler', 'attempts', 'failedAt', 'error'],
        lines: letters.length === 0 ? ['There are no dead letters.'] : [],
      }
    },
  },
  'events dead-letters replay': {
    summary: 'has a dead letter delivered again, by a process that serves',
    args: '<id>',
    async run(app, { args: [id = ''] }) {
      if (!(await lettersOf(app).replay(id)))
        throw new NotFoundException('Dead letter of a handler with a subscription', id)
      return { lines: [`${id} is delivered again.`] }
    },
  },
  'events dead-letters discard': {
    summary: 'deletes a dead letter for good',
    args: '<id>',
    replaces: () => true,
    async run(app, { args: [id = ''] }) {
      if (!(await lettersOf(app).discard(id))) throw new NotFoundException('Dead letter', id)
      return { lines: [`${id} is gone.`] }
    },
  },
}

/** @throws {UsageError} the transport of the application keeps none */
function lettersOf(app: FastifyInstance): DeadLetters {
  const letters = app.events.deadLetters
  if (letters === null) throw new UsageError('The event transport of this application keeps no dead letters.')
  return letters
}
