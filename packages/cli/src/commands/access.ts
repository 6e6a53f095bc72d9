/** The command `access`: who may call which route, beside the committed file. */
import { pathToFileURL } from 'node:url'
import type { AccessRow } from '@fastify-modular/public-routes'
import type { FastifyInstance } from 'fastify'
import type { CliCommand, Invocation } from '../command.ts'
import { exitCodes, type Report } from '../report.ts'

export const accessCommands: Readonly<Record<string, CliCommand>> = {
  access: {
    summary: 'who may call which route; with --check what differs from the committed file',
    args: '[file]',
    options: {
      '--check': 'compares with the file (default access.json); exit code 3 if they differ',
      '--update': 'writes the file',
    },
    runsAnyway: true,
    run: access,
  },
}

async function access(
  app: FastifyInstance,
  { args: [file = 'access.json'], options }: Invocation,
): Promise<Report> {
  const update = options['update'] === true
  if (!update && options['check'] !== true) {
    const rows: readonly AccessRow[] = app.access.table()
    return { data: rows, lines: app.access.print().trimEnd().split('\n') }
  }
  const changes = await app.access.compare(pathToFileURL(file), { update })
  if (changes.length === 0) return { data: [], lines: [`${file} says what holds.`] }
  if (update) return { data: changes, lines: [`${file} is written.`] }
  return { data: changes, lines: [...changes], exit: exitCodes.differences }
}
