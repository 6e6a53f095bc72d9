/** Runs one command on an application that is open under it. */
import { inspect } from 'node:util'
import { currentCommand, type Finding, safeRead, safeText } from '@fastify-modular/core/internal'
import type { FastifyInstance } from 'fastify'
import { type CliCommand, type Invocation, UsageError } from './command.ts'
import { type ExitCode, exitCodes, failure, type Report } from './report.ts'

/** The members of an application that commands of the same name use. */
const parts: readonly string[] = ['access', 'events', 'settings']

/** Never rejects: a failure is a report. */
export async function runCommand(
  app: FastifyInstance,
  command: CliCommand,
  invocation: Invocation,
): Promise<Report> {
  const { name = '', findings = [] } = currentCommand() ?? {}
  const [part = ''] = name.split(' ')
  if (parts.includes(part) && !app.hasDecorator(part))
    return failure([`This application has no ${part}: its plugin is not registered.`], exitCodes.usage)
  const blocking = command.runsAnyway ? [] : findings.filter((finding) => blocks(finding, invocation))
  if (blocking.length > 0) return failure(blocking.map(({ text }) => text))
  try {
    return await command.run(app, invocation)
  } catch (error) {
    return reportFailure(error)
  }
}

/** A finding without keys concerns all settings. */
function blocks({ keys }: Finding, { args }: Invocation): boolean {
  return keys === undefined || args.some((name) => keys.includes(name))
}

/** What went wrong as a report, with the code and the fields of the errors of this project. */
export function reportFailure(error: unknown): Report {
  const message = safeText(error, 'message') ?? inspect(error)
  const code = safeText(error, 'code')
  const errors = Object.entries(Object(safeRead(error, 'errorsByKey')))
  const lines = [
    code ? `${message} (${code})` : message,
    ...errors.flatMap(([key, messages]) => [messages].flat().map((each) => `${key}: ${String(each)}`)),
  ]
  return failure(lines, exitOf(error), { error: message, code, errors: Object.fromEntries(errors) })
}

function exitOf(error: unknown): ExitCode {
  if (error instanceof UsageError) return exitCodes.usage
  const status = safeRead(error, 'statusCode')
  return status === 409 || status === 412 ? exitCodes.conflict : exitCodes.failed
}
