#!/usr/bin/env node
/** The command; and, in the process that it starts, the application. One file is both: a bundle has one. */
import { fork } from 'node:child_process'

const asApplication = '--application'

if (process.argv[2] === asApplication) {
  const { serveCommand } = await import('./application.ts')
  serveCommand()
} else {
  const { runProgram } = await import('./program.ts')
  process.exitCode = await runProgram(process.argv.slice(2), () =>
    // What the application prints goes to standard error: standard output has the report alone.
    fork(import.meta.filename, [asApplication], { stdio: ['ignore', 2, 2, 'ipc'], serialization: 'json' }),
  )
}
