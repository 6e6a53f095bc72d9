/** Runs one command on an application that is open under it. */
import { currentCommand, type Finding } from '@fastify-modular/core/internal'
import type { FastifyInstance } from 'fastify'
import { type CliCommand, type Invocation, UsageError } from './command.ts'
import { type ExitCode, exitCodes, type Report } from './report.ts'

/** Never rejects: a failure is a report. */
export async function runCommand(
  app: FastifyInstance,
  command: CliCommand,
  invocation: Invocation,
): Promise<Report> {
  const findings = currentCommand()?.findings ?? []
  const blocking = command.runsAnyway ? [] : findings.filter((finding) => blocks(finding, invocation))
  if (blocking.length > 0) return { lines: blocking.map(({ text }) => text), exit: exitCodes.failed }
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

/** What went wrong as a report; what is not an error of a known kind has its name with it. */
export function reportFailure(error: unknown): Report {
  const { message, code, statusCode, errorsByKey } = readError(error)
  const details = Object.entries(errorsByKey).flatMap(([key, messages]) =>
    messages.map((each) => `${key}: ${each}`),
  )
  const lines = [code === undefined ? message : `${message} (${code})`, ...details]
  return { data: { error: message, code, errors: errorsByKey }, lines, exit: exitOf(error, statusCode) }
}

function exitOf(error: unknown, statusCode: unknown): ExitCode {
  if (error instanceof UsageError) return exitCodes.usage
  return statusCode === 409 || statusCode === 412 ? exitCodes.conflict : exitCodes.failed
}

function readError(error: unknown) {
  if (!(error instanceof Error)) return { message: String(error), errorsByKey: {} }
  const { message, code, statusCode, errorsByKey }: Error & Readonly<Record<string, unknown>> = Object.assign(
    Object.create(null),
    { message: error.message },
    error,
  )
  return {
    message,
    code: typeof code === 'string' ? code : undefined,
    statusCode,
    errorsByKey: isErrors(errorsByKey) ? errorsByKey : {},
  }
}

function isErrors(value: unknown): value is Readonly<Record<string, readonly string[]>> {
  return typeof value === 'object' && value !== null && Object.values(value).every(Array.isArray)
}
