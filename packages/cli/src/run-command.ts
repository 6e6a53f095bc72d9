/** Runs one command on the application that it opens. */
import { inspect } from 'node:util'
import { currentCommand, safeRead, safeText } from '@fastify-modular/core/internal'
import type { FastifyInstance } from 'fastify'
import { type Call, UsageError } from './command.ts'
import { exitCodes, failure, type Report } from './report.ts'

/** The members of an application that commands of the same name use. */
const parts: readonly string[] = ['access', 'events', 'settings']

/** Never rejects: a failure is a report. */
export async function runCommand(call: Call, open: () => Promise<FastifyInstance>): Promise<Report> {
  const { name, command, args } = call
  try {
    const app = await open()
    const [part = ''] = name.split(' ')
    if (parts.includes(part) && !app.hasDecorator(part))
      return failure([`This application has no ${part}: its plugin is not registered.`], exitCodes.usage)
    const findings = currentCommand()?.findings ?? []
    // A finding without keys concerns all settings.
    const blocking = findings.filter(({ keys }) => keys?.some((key) => args.includes(key)) ?? true)
    if (blocking.length > 0 && !command.runsAnyway) return failure(blocking.map(({ text }) => text))
    return await command.run(app, call)
  } catch (error) {
    return reportFailure(error)
  }
}

/** What went wrong as a report, with the code and the fields of the errors of this project. */
function reportFailure(error: unknown): Report {
  const message = safeText(error, 'message') ?? inspect(error)
  const code = safeText(error, 'code')
  const errors = Object.entries(Object(safeRead(error, 'errorsByKey')))
  const lines = [
    code ? `${message} (${code})` : message,
    ...errors.flatMap(([key, messages]) => [messages].flat().map((each) => `${key}: ${String(each)}`)),
  ]
  const status = error instanceof UsageError ? 400 : Number(safeRead(error, 'statusCode'))
  return failure(lines, exits[status], { error: message, code, errors: Object.fromEntries(errors) })
}

/** Exit codes by status: all others are failures. */
const exits: Readonly<Record<number, Report['exit']>> = {
  400: exitCodes.usage,
  404: exitCodes.usage,
  409: exitCodes.conflict,
  412: exitCodes.conflict,
}
