/** The commands `events dead-letters …`. */
import type { DeadLetters } from '@fastify-modular/core'
import type { FastifyInstance } from 'fastify'
import { type CliCommand, type Invocation, UsageError } from '../command.ts'
import { failure, type Report } from '../report.ts'

/** How many dead letters are read. */
export const mostLetters = 500

export const eventsCommands: Readonly<Record<string, CliCommand>> = {
  'events dead-letters list': {
    summary: 'events that no further attempt is made for, oldest first',
    run: list,
  },
  'events dead-letters replay': {
    summary: 'has a dead letter delivered again, by a process that serves',
    args: '<id>',
    run: (app, invocation) => change(invocation, 'is delivered again', (id) => lettersOf(app).replay(id)),
  },
  'events dead-letters discard': {
    summary: 'deletes a dead letter for good',
    args: '<id>',
    replaces: true,
    run: (app, invocation) => change(invocation, 'is gone', (id) => lettersOf(app).discard(id)),
  },
}

/** @throws {UsageError} the transport of the application keeps none */
function lettersOf(app: FastifyInstance): DeadLetters {
  const letters = app.events.deadLetters
  if (letters === null) throw new UsageError('The event transport of this application keeps no dead letters.')
  return letters
}

async function list(app: FastifyInstance): Promise<Report> {
  const letters = await lettersOf(app).list(mostLetters)
  const rows = letters.map(({ id, type, handler, attempts, failedAt, error }) => ({
    id,
    type,
    handler,
    attempts,
    failed: new Date(failedAt).toISOString(),
    error,
  }))
  const said =
    letters.length === 0 ? 'There are no dead letters.' : `There may be more than these ${mostLetters}.`
  return { data: letters, rows, lines: letters.length % mostLetters === 0 ? [said] : [] }
}

async function change(
  { args: [id = ''] }: Invocation,
  said: string,
  run: (id: string) => Promise<boolean>,
): Promise<Report> {
  if (await run(id)) return { lines: [`${id} ${said}.`] }
  return failure([`There is no dead letter ${id}, or its handler has no subscription.`])
}
