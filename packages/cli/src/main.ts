#!/usr/bin/env node
/** The command; and, in the process that it starts, the application. One file is both: a bundle has one. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { exitCodes, failure, printReport, type Report, reportMember } from './report.ts'

const asApplication = '--application'
const argv = process.argv.slice(2)

if (argv[0] === asApplication) {
  const { serve } = await import('./application.ts')
  await serve(argv.slice(1))
} else {
  // What the application prints goes to standard error: standard output has the report alone.
  const child = fork(import.meta.filename, [asApplication, ...argv], { stdio: ['inherit', 2, 2, 'ipc'] })
  let report: Report | undefined
  // The application may send messages of its own, as to a process manager.
  child.on('message', (message) => (report ??= Object(message)[reportMember]))
  const [[code, signal]] = await Promise.all([once(child, 'exit'), once(child, 'disconnect')])
  print(
    report ?? failure([`The application ended before the command did (${signal ?? `exit code ${code}`}).`]),
  )
}

function print(report: Report): void {
  const { exit = exitCodes.done } = report
  const asJson = argv.includes('--json')
  const isAnswer = asJson || exit === exitCodes.done || exit === exitCodes.differences
  const output = isAnswer ? process.stdout : process.stderr
  output.on('error', () => {}) // the reader has closed the pipe, as head does
  output.write(printReport(report, asJson))
  process.exitCode = exit
}
